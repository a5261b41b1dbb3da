package openapi

import (
	"errors"
	"fmt"
	"slices"
)

// Bounds of examples: a short document can use an alias or a schema many times.
const (
	maxExample  = 16 << 20 // bytes of an example
	maxExamples = 1 << 30  // bytes of all examples, each as often as it is read
	maxLevels   = 200      // nested schemas
	maxSchemas  = 100_000  // schemas that are read for an example
	maxNested   = 10_000   // nested lists and mappings of an example
)

// Costs of work. The unit is the time to read one byte of an example.
const (
	costOfNode      = 100
	costOfReference = 1000
)

// missing is the error for a document that lacks an example that an operation needs.
type missing struct {
	subject string // the name of a parameter, or "the body"
	why     string // "" if there is nothing to add
}

// Error is one line.
func (m *missing) Error() string {
	if m.why != "" {
		return "no example of " + m.subject + ": " + m.why
	}
	return "no example of " + m.subject
}

func isMissing(err error) bool {
	var m *missing
	return errors.As(err, &m)
}

// findExample returns the example of a parameter or media type, or of its schema, which may be nil.
// Without one the error is a *missing.
func (r *Requests) findExample(owner, schema *node, subject string) (*node, error) {
	v := r.directExample(owner)
	var why string
	if v == nil && schema != nil {
		s := composer{r: r}
		v = s.exampleOf(schema)
		if why = s.why; s.invalid != nil {
			return nil, fmt.Errorf("the schema of %s: %w", subject, s.invalid)
		}
	}
	if v == nil {
		return nil, &missing{subject: subject, why: why}
	}
	size := exampleSize(v, maxExample, 0)
	r.cost += size
	switch {
	case size > maxExample:
		return nil, fmt.Errorf("an example of more than %d bytes of %s", maxExample, subject)
	case r.IsSpent():
		return nil, fmt.Errorf("more than %d bytes of examples up to that of %s", maxExamples, subject)
	}
	return v, nil
}

// directExample returns the example at a node itself, or nil. Null is no example, because generators
// write it.
func (r *Requests) directExample(owner *node) *node {
	r.cost += costOfNode
	if v := owner.get("example"); !v.isNull() {
		return v
	}
	examples := owner.get("examples")
	if l := examples.items(); len(l) > 0 && !l[0].value.isNull() { // a list is at a schema
		return l[0].value
	}
	if examples != nil && examples.kind == mapping {
		for _, f := range examples.fields {
			r.cost += costOfNode
			e, _ := r.resolve(f.value)
			for _, name := range []string{"value", "dataValue"} {
				if v := e.get(name); !v.isNull() {
					return v
				}
			}
		}
	}
	if r.doc.swagger {
		if v := owner.get("x-example"); !v.isNull() {
			return v
		}
	}
	return nil
}

func (r *Requests) resolve(n *node) (*node, string) {
	if _, ok := n.find("$ref"); ok {
		r.cost += costOfReference
	}
	return r.doc.resolve(n)
}

// composer makes examples from those of parts: {"id": 7} for a schema with a property id whose example
// is 7.
type composer struct {
	r    *Requests
	open []*node // schemas being composed, the outermost first: a schema may contain itself
	read int     // number of schemas read
	cuts int     // number of times that a schema contained itself or a bound was reached
	why  string  // first reason for a missing example

	invalid error // first field that is not a list
}

type schemaExample struct {
	value   *node  // nil without an example
	why     string // why there is no example
	invalid error  // the same as in composer
}

func (s *composer) recordMissing(why string) *node {
	if s.why == "" {
		s.why = why
	}
	return nil
}

// exampleOf returns the example of a schema or its parts. Without one, it records why and returns nil.
func (s *composer) exampleOf(schema *node) *node {
	s.r.cost += costOfNode
	s.read++
	if s.r.IsSpent() || s.read > maxSchemas || len(s.open) > maxLevels {
		s.cuts++
		return s.recordMissing("the schema is too large")
	}
	if _, hasRef := schema.find("$ref"); hasRef {
		if v := s.statedValue(schema); v != nil && s.r.doc.since31 {
			return v
		}
		target, why := s.r.resolve(schema)
		if why != "" {
			return s.recordMissing(why)
		}
		schema = target
	}
	if v := s.statedValue(schema); v != nil {
		return v
	}
	if slices.Contains(s.open, schema) {
		s.cuts++
		return s.recordMissing("its schema contains itself")
	}
	composed, ok := s.r.examples[schema]
	if !ok {
		composed = s.compose(schema)
	}
	if s.invalid == nil {
		s.invalid = composed.invalid
	}
	if composed.value == nil {
		return s.recordMissing(composed.why)
	}
	return composed.value
}

// compose makes an example of parts. It stores the example unless a part was cut: then it depends on
// the schemas around it.
func (s *composer) compose(schema *node) schemaExample {
	whyBefore, invalidBefore, cutsBefore := s.why, s.invalid, s.cuts
	s.why, s.invalid = "", nil // what is recorded now is about this schema, and not about the schema around it
	s.open = append(s.open, schema)
	var composed schemaExample
	if items := schema.get("items"); items != nil && !hasOnlyType(schema, "object") {
		composed.value = s.listOf(schema, items)
	} else {
		composed.value = s.composeParts(schema)
	}
	s.open = s.open[:len(s.open)-1]
	composed.why, s.why = s.why, whyBefore
	composed.invalid, s.invalid = s.invalid, invalidBefore
	if s.cuts == cutsBefore {
		s.r.examples[schema] = composed
	}
	return composed
}

// listField returns the items of a field of a schema. It records if the field is not a list.
func (s *composer) listField(schema *node, name string) []field {
	items, err := schema.listField(name)
	if err != nil && s.invalid == nil {
		s.invalid = err
	}
	return items
}

// statedValue returns the example, the default, the const or the first enum.
func (s *composer) statedValue(schema *node) *node {
	if v := s.r.directExample(schema); v != nil {
		return v
	}
	for _, name := range []string{"default", "const"} {
		if v := schema.get(name); !v.isNull() {
			return v
		}
	}
	for _, f := range s.listField(schema, "enum") {
		if !f.value.isNull() {
			return f.value
		}
	}
	return nil
}

// listOf returns an example list with one item, or nil if more are needed.
func (s *composer) listOf(schema, items *node) *node {
	switch minItems := schema.get("minItems").scalar(); minItems {
	case "", "0", "1": // one item is enough
	default:
		return s.recordMissing("it needs " + minItems + " items")
	}
	if v := s.exampleOf(items); v != nil {
		return &node{kind: list, fields: []field{{value: v}}}
	}
	return nil
}

// composeParts combines the properties, allOf, and the first example of oneOf and of anyOf. It returns
// nil if a required part has none.
func (s *composer) composeParts(schema *node) *node {
	out := &node{kind: mapping}
	var other *node // the last part that is not a mapping
	add := func(v *node) {
		if v.kind != mapping {
			other = v
			return
		}
		for _, f := range v.fields {
			out.addField(f)
		}
	}
	if !s.addProperties(out, schema) {
		return nil
	}
	for _, f := range s.listField(schema, "allOf") {
		part, why := s.r.resolve(f.value)
		if why != "" {
			return s.recordMissing(why)
		}
		if v := s.exampleOf(f.value); v != nil {
			add(v)
		} else if len(requiredNames(part)) > 0 {
			return nil
		}
	}
	for _, name := range []string{"oneOf", "anyOf"} {
		alternatives := s.listField(schema, name)
		found := len(alternatives) == 0
		for _, f := range alternatives {
			if v := s.exampleOf(f.value); v != nil {
				add(v)
				found = true
				break
			}
		}
		if !found && name == "oneOf" {
			return nil
		}
	}
	if other != nil && len(out.fields) == 0 {
		return other
	}
	for _, name := range requiredNames(schema) {
		if _, ok := out.find(name); !ok && !s.isReadOnly(schema, name) {
			return s.recordMissing(name + " has none")
		}
	}
	if len(out.fields) == 0 {
		return nil
	}
	return out
}

// addProperties adds the examples of the properties to out. It returns false if a required property has
// none.
func (s *composer) addProperties(out, schema *node) bool {
	properties := schema.get("properties")
	if properties == nil || properties.kind != mapping {
		return true
	}
	required := requiredNames(schema)
	for _, f := range properties.fields {
		if s.isReadOnly(schema, f.name) {
			continue
		}
		whyBefore := s.why
		if v := s.exampleOf(f.value); v != nil {
			out.addField(field{name: f.name, value: v})
			continue
		}
		if slices.Contains(required, f.name) {
			s.recordMissing(f.name + " has none")
			return false
		}
		s.why = whyBefore // the property is omitted
	}
	return true
}

// isReadOnly reports whether a property is only in responses.
func (s *composer) isReadOnly(schema *node, name string) bool {
	p := schema.get("properties").get(name)
	if p.get("readOnly").isTrue() {
		return true
	}
	p, _ = s.r.resolve(p)
	return p.get("readOnly").isTrue()
}

func requiredNames(schema *node) (names []string) {
	for _, f := range schema.get("required").items() {
		names = append(names, f.value.scalar())
	}
	return names
}

// hasOnlyType reports whether all values have a type or are null.
func hasOnlyType(schema *node, name string) bool {
	t := schema.get("type")
	if t.scalar() == name {
		return true
	}
	found := false
	for _, f := range t.items() {
		switch f.value.scalar() {
		case name:
			found = true
		case "null": // may be in addition
		default:
			return false
		}
	}
	return found
}

// exampleSize returns the approximate size in bytes. It stops beyond max: a few bytes can repeat an
// alias any number of times.
func exampleSize(v *node, max, depth int) (n int) {
	if depth > maxNested {
		return max + 1
	}
	n = len(v.text) + 2
	for _, f := range v.fields {
		n += len(f.name) + 3 + exampleSize(f.value, max-n, depth+1) // 3: quotes and a colon
		if n > max {
			break
		}
	}
	return n
}
