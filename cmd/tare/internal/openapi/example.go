package openapi

import (
	"errors"
	"fmt"
	"slices"
)

// Bounds of examples: an alias or a schema can be used many times.
const (
	maxExample  = 16 << 20 // bytes of one
	maxExamples = 1 << 30  // bytes of all, each as often as it is read
	maxLevels   = 200      // of schemas in one another
	maxSchemas  = 100_000  // that are read for one
	maxNested   = 10_000   // collections in one another
)

// Costs of work, in bytes of an example that take about as long.
const (
	costOfNode      = 100
	costOfReference = 1000
)

// missing is returned if the document lacks something that an operation needs.
type missing struct {
	of  string // a parameter, the body
	why string // may be ""
}

// Error is one line.
func (m *missing) Error() string {
	if m.why != "" {
		return "no example of " + m.of + ": " + m.why
	}
	return "no example of " + m.of
}

func isMissing(err error) bool {
	var m *missing
	return errors.As(err, &m)
}

// findExample returns the example of o, a parameter or a media type: that at o, or that of its
// schema. of names o in messages. The error is a *missing if there is none.
func (r *Requests) findExample(o, schema *node, of string) (*node, error) {
	v := r.ownExample(o)
	var why string
	if v == nil && schema != nil {
		s := schemas{r: r}
		v = s.findExample(schema)
		why = s.why
	}
	if v == nil {
		return nil, &missing{of, why}
	}
	n := exampleSize(v, maxExample, 0)
	r.cost += n
	switch {
	case n > maxExample:
		return nil, fmt.Errorf("an example of more than %d bytes of %s", maxExample, of)
	case r.IsSpent():
		return nil, fmt.Errorf("more than %d bytes of examples until here of %s", maxExamples, of)
	}
	return v, nil
}

// ownExample returns the example at a parameter, a media type or a schema itself, or nil. It
// treats null as no example: generators write it.
func (r *Requests) ownExample(o *node) *node {
	r.cost += costOfNode
	if v := o.get("example"); !v.isNull() {
		return v
	}
	examples := o.get("examples")
	if l := examples.items(); len(l) > 0 && !l[0].value.isNull() { // of a schema
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
		if v := o.get("x-example"); !v.isNull() {
			return v
		}
	}
	return nil
}

// resolve is Document.resolve and adds its cost.
func (r *Requests) resolve(n *node) (*node, string) {
	if _, ok := n.find("$ref"); ok {
		r.cost += costOfReference
	}
	return r.doc.resolve(n)
}

// schemas composes the example of a schema from those of its parts.
type schemas struct {
	r    *Requests
	open []*node // schemas being composed: a schema may contain itself
	read int     // schemas
	cuts int     // times that a schema contained itself or a bound was reached
	why  string  // the first reason for a missing example
}

// schemaExample is the example of a schema, or nil and the reason.
type schemaExample struct {
	value *node
	why   string
}

// recordLack returns nil, and records why there is no example.
func (s *schemas) recordLack(why string) *node {
	if s.why == "" {
		s.why = why
	}
	return nil
}

// findExample returns the example of a schema: that at the schema, its default, its only or
// first value, or the composition of its parts. It returns nil if there is none.
func (s *schemas) findExample(schema *node) *node {
	s.r.cost += costOfNode
	if s.read++; s.r.IsSpent() || s.read > maxSchemas || len(s.open) > maxLevels {
		s.cuts++
		return s.recordLack("the schema is too large")
	}
	if _, refers := schema.find("$ref"); refers {
		if v := s.statedValue(schema); v != nil && s.r.doc.since31 {
			return v
		}
		to, why := s.r.resolve(schema)
		if why != "" {
			return s.recordLack(why)
		}
		schema = to
	}
	if v := s.statedValue(schema); v != nil {
		return v
	}
	if slices.Contains(s.open, schema) {
		s.cuts++
		return s.recordLack("its schema contains itself")
	}
	known, ok := s.r.examples[schema]
	if !ok {
		known = s.compose(schema)
	}
	if known.value == nil {
		return s.recordLack(known.why)
	}
	return known.value
}

// compose composes the example of a schema from those of its parts. It stores the example
// unless that depends on the schemas in s.open.
func (s *schemas) compose(schema *node) schemaExample {
	before, cuts := s.why, s.cuts
	s.why = ""
	s.open = append(s.open, schema)
	var m schemaExample
	if items := schema.get("items"); items != nil && !isTyped(schema, "object") {
		m.value = s.listOf(schema, items)
	} else {
		m.value = s.composeParts(schema)
	}
	s.open = s.open[:len(s.open)-1]
	m.why, s.why = s.why, before
	if s.cuts == cuts {
		s.r.examples[schema] = m
	}
	return m
}

// statedValue returns the value that the schema itself contains, or nil.
func (s *schemas) statedValue(schema *node) *node {
	if v := s.r.ownExample(schema); v != nil {
		return v
	}
	for _, name := range []string{"default", "const"} {
		if v := schema.get(name); !v.isNull() {
			return v
		}
	}
	for _, f := range schema.get("enum").items() {
		if !f.value.isNull() {
			return f.value
		}
	}
	return nil
}

// listOf returns a list of one item.
func (s *schemas) listOf(schema, items *node) *node {
	switch least := schema.get("minItems").scalar(); least {
	case "", "0", "1":
	default:
		return s.recordLack("it needs " + least + " items")
	}
	if v := s.findExample(items); v != nil {
		return &node{kind: list, fields: []field{{value: v}}}
	}
	return nil
}

// composeParts returns the example composed of the properties of a schema, all of allOf, and
// the first of oneOf and of anyOf that has an example.
func (s *schemas) composeParts(schema *node) *node {
	out, only := &node{kind: mapping}, (*node)(nil)
	add := func(v *node) {
		if v.kind != mapping {
			only = v
			return
		}
		for _, f := range v.fields {
			out.addField(f)
		}
	}
	if !s.addProperties(out, schema) {
		return nil
	}
	for _, f := range schema.get("allOf").items() {
		part, why := s.r.resolve(f.value)
		if why != "" {
			return s.recordLack(why)
		}
		if v := s.findExample(f.value); v != nil {
			add(v)
		} else if len(requiredNames(part)) > 0 {
			return nil
		}
	}
	for _, name := range []string{"oneOf", "anyOf"} {
		alternatives := schema.get(name).items()
		found := len(alternatives) == 0
		for _, f := range alternatives {
			if v := s.findExample(f.value); v != nil {
				add(v)
				found = true
				break
			}
		}
		if !found && name == "oneOf" {
			return nil
		}
	}
	if only != nil && len(out.fields) == 0 {
		return only
	}
	for _, name := range requiredNames(schema) {
		if _, ok := out.find(name); !ok && !s.isReadOnly(schema, name) {
			return s.recordLack(name + " has none")
		}
	}
	if len(out.fields) == 0 {
		return nil
	}
	return out
}

// addProperties adds the examples of properties that are in requests. It returns false if a
// required one is missing.
func (s *schemas) addProperties(out, schema *node) bool {
	properties := schema.get("properties")
	if properties == nil || properties.kind != mapping {
		return true
	}
	needed := requiredNames(schema)
	for _, f := range properties.fields {
		if s.isReadOnly(schema, f.name) {
			continue
		}
		before := s.why
		if v := s.findExample(f.value); v != nil {
			out.addField(field{name: f.name, value: v})
		} else if slices.Contains(needed, f.name) {
			s.recordLack(f.name + " has none")
			return false
		} else {
			s.why = before
		}
	}
	return true
}

// isReadOnly reports whether a property is only in responses.
func (s *schemas) isReadOnly(schema *node, name string) bool {
	p := schema.get("properties").get(name)
	if p.get("readOnly").isTrue() {
		return true
	}
	p, _ = s.r.resolve(p)
	return p.get("readOnly").isTrue()
}

// requiredNames returns the names of the required properties.
func requiredNames(schema *node) (names []string) {
	for _, f := range schema.get("required").items() {
		names = append(names, f.value.scalar())
	}
	return names
}

// isTyped reports whether values of a schema have only that type, and may be null.
func isTyped(schema *node, name string) bool {
	t := schema.get("type")
	if t.scalar() == name {
		return true
	}
	is := false
	for _, f := range t.items() {
		switch f.value.scalar() {
		case name:
			is = true
		case "null":
		default:
			return false
		}
	}
	return is
}

// exampleSize returns about how many bytes a value has when written. It stops counting beyond
// max: a few bytes of a document can repeat an alias any number of times.
func exampleSize(v *node, max, depth int) (n int) {
	if depth > maxNested {
		return max + 1
	}
	n = len(v.text) + 2
	for _, f := range v.fields {
		if n += len(f.name) + 3 + exampleSize(f.value, max-n, depth+1); n > max {
			break
		}
	}
	return n
}
