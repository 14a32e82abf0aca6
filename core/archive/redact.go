package archive

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/edsight/edsight/core/model"
)

// redactedText stands for a value that gave way.
const redactedText = "[redacted]"

// secretText finds credentials inside any text: JSON web tokens, private keys,
// authorization headers, and passwords in URLs.
var secretText = regexp.MustCompile(
	`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*` +
		`|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)` +
		`|(?i:\b(bearer|basic) +[A-Za-z0-9+/=._~-]{16,})` +
		`|(?i:\b[a-z][a-z0-9+.-]*://[^\s/@:]*:[^\s/@]+@)`)

// lastApplied is the annotation in which kubectl keeps the whole object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// redactor replaces what looks like a credential and counts it. It changes
// nothing in place.
type redactor struct {
	off   bool
	count int
	names map[string]bool // secretName of names seen so far
}

// secretName tells whether a field, label, annotation or header of this name
// holds a credential. Names of secrets and paths to them are not credentials.
func secretName(name string) bool {
	n := strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_./", r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
	for _, harmless := range []string{"name", "path", "file", "provider", "namespace"} {
		if strings.HasSuffix(n, harmless) {
			return false
		}
	}
	return slices.ContainsFunc([]string{
		"token", "secret", "password", "passwd", "passphrase", "apikey", "accesskey", "privatekey",
		"credential", "authorization", "cookie",
	}, func(word string) bool { return strings.Contains(n, word) })
}

func (r *redactor) text(s string) string {
	if r.off || s == "" {
		return s
	}
	return secretText.ReplaceAllStringFunc(s, func(string) string {
		r.count++
		return redactedText
	})
}

func (r *redactor) value(name, v string) string {
	if !r.off && v != "" && r.secret(name) {
		r.count++
		return redactedText
	}
	return r.text(v)
}

func (r *redactor) secret(name string) bool {
	secret, known := r.names[name]
	if !known {
		secret = name == lastApplied || secretName(name)
		r.names[name] = secret
	}
	return secret
}

// labels returns l, or a changed copy of it.
func (r *redactor) labels(l model.Labels) (out model.Labels, changed bool) {
	out = l
	for k, v := range l {
		n := r.value(k, v)
		if n == v {
			continue
		}
		if !changed {
			out, changed = maps.Clone(l), true
		}
		out[k] = n
	}
	return out, changed
}

func (r *redactor) proxy(p *model.Proxy) *model.Proxy {
	if p == nil {
		return nil
	}
	labels, changed := r.labels(p.Labels)
	if !changed {
		return p
	}
	c := *p
	c.Labels = labels
	return &c
}

func (r *redactor) service(s *model.Service) *model.Service {
	if s == nil {
		return nil
	}
	labels, a := r.labels(s.Labels)
	selector, b := r.labels(s.Selector)
	perCluster, c := r.perCluster(s.PerCluster)
	if !a && !b && !c {
		return s
	}
	changed := *s
	changed.Labels, changed.Selector, changed.PerCluster = labels, selector, perCluster
	return &changed
}

func (r *redactor) perCluster(m map[model.ClusterID]*model.Service) (out map[model.ClusterID]*model.Service, changed bool) {
	out = m
	for id, s := range m {
		n := r.service(s)
		if n == s {
			continue
		}
		if !changed {
			out, changed = maps.Clone(m), true
		}
		out[id] = n
	}
	return out, changed
}

// json redacts an encoded object, and leaves its managedFields out.
func (r *redactor) json(b []byte) ([]byte, error) {
	if r.off {
		return b, nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if o, ok := v.(map[string]any); ok {
		if meta, ok := o["metadata"].(map[string]any); ok {
			delete(meta, "managedFields")
		}
	}
	return json.Marshal(r.walk("", v))
}

// walk changes v, which is its own, and returns it.
func (r *redactor) walk(name string, v any) any {
	switch v := v.(type) {
	case string:
		return r.value(name, v)
	case []any:
		for i := range v {
			v[i] = r.walk(name, v[i])
		}
	case map[string]any:
		named := fieldName(v)
		for k, e := range v {
			n := k
			if named != "" && (k == "value" || k == "values") {
				n = named
			}
			v[k] = r.walk(n, e)
		}
	}
	return v
}

// fieldName is the name in {"name": …, "value": …}, as in lists of headers and
// conditions of policies.
func fieldName(o map[string]any) string {
	for _, k := range []string{"name", "key"} {
		if s, ok := o[k].(string); ok {
			return s
		}
	}
	return ""
}
