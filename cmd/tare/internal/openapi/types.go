package openapi

// types tells the type that a schema gives a value: numbers and dates of YAML may be meant
// as texts. The zero value knows nothing.
type types struct {
	r      *Requests
	schema *node
	depth  int
}

func (r *Requests) typesOf(schema *node) types { return types{r: r}.at(schema) }

// at returns the types of a schema, whose references are followed.
func (t types) at(schema *node) types {
	if t.r == nil || schema == nil {
		return types{}
	}
	t.schema, _ = t.r.resolve(schema)
	t.depth = 0
	return t
}

// all calls f with the schema and those of its allOf, until it returns true.
func (t types) all(f func(schema *node) bool) bool {
	if t.schema == nil || t.r.IsSpent() {
		return false
	}
	if t.r.cost += costOfNode; f(t.schema) {
		return true
	}
	for _, part := range t.schema.get("allOf").items() {
		inner := t.at(part.value)
		if inner.depth = t.depth + 1; inner.depth < maxRefs && inner.all(f) {
			return true
		}
	}
	return false
}

// has reports whether values have one of the types, and no other but null.
func (t types) has(names ...string) bool {
	return t.all(func(schema *node) bool {
		for _, name := range names {
			if isTyped(schema, name) {
				return true
			}
		}
		return false
	})
}

func (t types) isString() bool     { return t.has("string") }
func (t types) isNumber() bool     { return t.has("integer", "number") }
func (t types) isCollection() bool { return t.has("object", "array") }

// isFile reports whether values are the content of a file.
func (t types) isFile() bool {
	return t.all(func(schema *node) bool {
		return schema.get("type").scalar() == "file" || schema.get("format").scalar() == "binary" || schema.get("contentMediaType") != nil
	})
}

// property returns the types of a field.
func (t types) property(name string) (out types) {
	t.all(func(schema *node) bool {
		p := schema.get("properties").get(name)
		if p == nil {
			if p = schema.get("additionalProperties"); p == nil || p.kind != mapping {
				return false
			}
		}
		out = t.at(p)
		return true
	})
	return out
}

// items returns the types of the items of a list.
func (t types) items() (out types) {
	t.all(func(schema *node) bool {
		items := schema.get("items")
		if items != nil {
			out = t.at(items)
		}
		return items != nil
	})
	return out
}
