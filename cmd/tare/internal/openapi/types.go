package openapi

import "slices"

// typeSet reports the types that a schema allows. They decide how an example is written: a number or a
// date of YAML may be meant as a text. The zero value reports no type.
type typeSet struct {
	r      *Requests
	schema *node // without references; may be nil
	depth  int   // nesting in allOf
}

func (r *Requests) typesOf(schema *node) typeSet { return typeSet{r: r}.ofSchema(schema) }

func (t typeSet) ofSchema(schema *node) typeSet {
	if t.r == nil || schema == nil {
		return typeSet{}
	}
	t.schema, _ = t.r.resolve(schema)
	t.depth = 0
	return t
}

// anySchema reports whether f is true for the schema or one of its allOf.
func (t typeSet) anySchema(f func(schema *node) bool) bool {
	if t.schema == nil || t.r.IsSpent() {
		return false
	}
	t.r.cost += costOfNode
	if f(t.schema) {
		return true
	}
	for _, part := range t.schema.get("allOf").items() {
		inner := t.ofSchema(part.value)
		inner.depth = t.depth + 1
		if inner.depth < maxRefs && inner.anySchema(f) {
			return true
		}
	}
	return false
}

// hasType reports whether all values have one of the types or are null.
func (t typeSet) hasType(names ...string) bool {
	return t.anySchema(func(schema *node) bool {
		return slices.ContainsFunc(names, func(name string) bool { return hasOnlyType(schema, name) })
	})
}

func (t typeSet) isString() bool     { return t.hasType("string") }
func (t typeSet) isNumber() bool     { return t.hasType("integer", "number") }
func (t typeSet) isCollection() bool { return t.hasType("object", "array") }

// isFile reports whether values are the content of a file.
func (t typeSet) isFile() bool {
	return t.anySchema(func(schema *node) bool {
		return schema.get("type").scalar() == "file" || schema.get("format").scalar() == "binary" || schema.get("contentMediaType") != nil
	})
}

func (t typeSet) property(name string) (out typeSet) {
	t.anySchema(func(schema *node) bool {
		p := schema.get("properties").get(name)
		if p == nil {
			p = schema.get("additionalProperties")
			if p == nil || p.kind != mapping { // it may be a boolean
				return false
			}
		}
		out = t.ofSchema(p)
		return true
	})
	return out
}

func (t typeSet) items() (out typeSet) {
	t.anySchema(func(schema *node) bool {
		items := schema.get("items")
		if items != nil {
			out = t.ofSchema(items)
		}
		return items != nil
	})
	return out
}
