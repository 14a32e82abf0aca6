package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/edsight/edsight/core/model"
)

// envelope is an Istio object without its two messages.
type envelope struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   json.RawMessage `json:"spec"`
	Status json.RawMessage `json:"status"`
}

// decode fills the blank and tells whether it can be used. Fields that the kind
// does not have are problems and do no harm.
func (d *decoder) decode(key model.ObjectKey, b blank, doc text) bool {
	if b.spec == nil {
		return d.strict(key, doc, b.object)
	}
	var e envelope
	if !d.strict(key, doc, &e) {
		return false
	}
	if meta, ok := metaOf(b); ok {
		*meta = e.ObjectMeta
	}
	return d.message(key, doc, "spec", e.Spec, b.spec) && d.message(key, doc, "status", e.Status, b.status)
}

func metaOf(b blank) (*metav1.ObjectMeta, bool) {
	accessor, ok := b.object.(metav1.ObjectMetaAccessor)
	if !ok {
		return nil, false
	}
	meta, ok := accessor.GetObjectMeta().(*metav1.ObjectMeta)
	return meta, ok
}

func (d *decoder) strict(key model.ObjectKey, doc text, into any) bool {
	unknown, err := kjson.UnmarshalStrict(doc.text, into)
	if err != nil {
		at, message := typeError(doc, err)
		d.broken(key, doc.at(at.start), at.path, message)
		return false
	}
	var all []place
	for _, u := range unknown {
		var f kjson.FieldError
		if !errors.As(u, &f) {
			d.problem(key, doc.line, "", u.Error())
			continue
		}
		path := f.FieldPath()
		if path == "$op" || path == "$cluster" {
			continue
		}
		if all == nil {
			all = places(doc.text)
		}
		what, _, _ := strings.Cut(u.Error(), " field")
		effect := "it is ignored"
		if what == "duplicate" {
			effect = "the last one counts"
		}
		d.problem(key, doc.at(placeOf(all, path).start), path, what+" field; "+effect)
	}
	return true
}

// typeError says what is wrong with a value, and finds its place.
func typeError(doc text, err error) (at place, message string) {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return place{}, strings.TrimPrefix(err.Error(), "json: ")
	}
	all := places(doc.text)
	at = placeAt(all, int(wrong.Offset)-1)
	if plain := regexp.MustCompile(`\[\d+\]`).ReplaceAllString(at.path, ""); wrong.Field != "" && !strings.HasSuffix(plain, wrong.Field) {
		at = placeOf(all, wrong.Field)
		at.path = wrong.Field
	}
	return at, fmt.Sprintf("is %s where %s is expected", wrong.Value, typeName(wrong))
}

// typeName says the expected type in words of JSON where there are such.
func typeName(wrong *json.UnmarshalTypeError) string {
	if wrong.Type == nil {
		return "another type"
	}
	switch name := wrong.Type.Kind().String(); name {
	case "struct", "map", "ptr":
		return "object"
	case "slice", "array":
		return "list"
	default:
		return name
	}
}

// message reads one Protobuf message of an Istio object.
func (d *decoder) message(key model.ObjectKey, doc text, field string, data json.RawMessage, into proto.Message) bool {
	if len(data) == 0 || bytes.Equal(data, []byte("null")) {
		return true
	}
	if protojson.Unmarshal(data, into) == nil {
		return true
	}
	plain := plainDurations(data)
	err := protojson.Unmarshal(plain, into)
	if err != nil && strings.Contains(err.Error(), "unknown field") {
		at, message := messageError(doc, field, data, plain, err)
		d.problem(key, doc.at(at.start), at.path, message)
		err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(plain, into)
	}
	if err == nil {
		proto.Reset(into)
		err = json.Unmarshal(data, into) // as Istio reads it
	}
	if err != nil {
		at, message := messageError(doc, field, data, plain, err)
		d.broken(key, doc.at(at.start), at.path, message)
	}
	return err == nil
}

// plainDurations puts seconds, as Protobuf has them, in the place of all durations, of
// which Istio takes others, too, as "5m". They are as long, and of any value: what is
// elsewhere keeps its place, and can be checked.
func plainDurations(data []byte) []byte {
	const most, fraction = 22, 10 // bytes
	return regexp.MustCompile(`"(?:[^"\\]|\\.)*"(?:\s*:)?`).ReplaceAllFunc(data, func(value []byte) []byte {
		text, ok := bytes.CutSuffix(value[1:], []byte(`"`))
		if _, err := time.ParseDuration(string(text)); err != nil || !ok || len(text) < 2 || len(text) > most {
			return value // or the name of a field
		}
		digits := bytes.Repeat([]byte("1"), len(text)-1)
		if len(text) > most-fraction {
			digits[len(digits)-fraction] = '.'
		}
		return fmt.Appendf(nil, `"%ss"`, digits)
	})
}

// messageError says what is wrong with a message, and finds the place by the
// line and column which the error names. They are those of plain, and what it quotes is
// from there.
func messageError(doc text, field string, data, plain []byte, err error) (at place, message string) {
	all := places(doc.text)
	at, message = placeOf(all, field), err.Error()
	if m := regexp.MustCompile(`\(line (\d+):(\d+)\): (.*)`).FindStringSubmatch(message); m != nil {
		begin := at.start + max(0, bytes.Index(doc.text[at.start:], data))
		from := offsetOf(plain, m[1], m[2])
		to := from + max(0, bytes.IndexAny(plain[from:], ",]} \n"))
		at, message = placeAt(all, begin+from), strings.Replace(m[3], string(plain[from:to]), string(data[from:to]), 1)
	}
	if name, ok := strings.CutPrefix(message, "unknown field "); ok {
		message = "unknown field; it is ignored"
		if !strings.HasSuffix(at.path, strings.Trim(name, `"`)) {
			at.path += "." + strings.Trim(name, `"`)
		}
	}
	return at, message
}

// offsetOf turns a line and a column, counted from 1 in characters, into an offset.
func offsetOf(data []byte, line, column string) int {
	l, lineErr := strconv.Atoi(line)
	c, columnErr := strconv.Atoi(column)
	if lineErr != nil || columnErr != nil {
		return 0
	}
	offset := 0
	for ; l > 1; l-- {
		i := bytes.IndexByte(data[offset:], '\n')
		if i < 0 {
			break
		}
		offset += i + 1
	}
	for ; c > 1 && offset < len(data); c-- {
		_, n := utf8.DecodeRune(data[offset:])
		offset += n
	}
	return offset
}
