package model_test

import (
	"reflect"
	"testing"

	"github.com/edsight/edsight/core/model"
)

// TestEqualSeesEveryField changes one field after the other, so that a field
// which is added later cannot be forgotten.
func TestEqualSeesEveryField(t *testing.T) {
	everyField(t, func(a, b model.Workload) bool { return a.Equal(&b) })
	everyField(t, func(a, b model.Proxy) bool { return a.Equal(&b) })
	if (*model.Workload)(nil).Equal(&model.Workload{}) || !(*model.Proxy)(nil).Equal(nil) {
		t.Error("nil equals nil alone")
	}
}

func everyField[T any](t *testing.T, equal func(a, b T) bool) {
	t.Helper()
	var zero T
	if !equal(zero, zero) {
		t.Errorf("%T: two zero values differ", zero)
	}
	for i := range reflect.TypeFor[T]().NumField() {
		var other T
		fill(reflect.ValueOf(&other).Elem().Field(i))
		if equal(zero, other) || equal(other, zero) {
			t.Errorf("%T: a change of %s is not seen", zero, reflect.TypeFor[T]().Field(i).Name)
		}
	}
}

// fill makes a value another than the zero one.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint32:
		v.SetUint(1)
	case reflect.Struct:
		fill(v.Field(0))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem())
	default:
		v.Set(reflect.New(v.Type()).Elem()) // of no kind in use: the test fails
	}
}
