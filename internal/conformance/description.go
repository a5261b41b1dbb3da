package conformance

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Description is an OpenAPI document of version 3.1, as far as answers can be
// compared with it: paths, methods, statuses, media types, and of schemas type,
// const, enum, required, properties, additionalProperties, items and references.
type Description struct{ doc map[string]any }

// ParseDescription reads an OpenAPI document in JSON.
func ParseDescription(text []byte) (Description, error) {
	var d Description
	if err := json.Unmarshal(text, &d.doc); err != nil {
		return d, fmt.Errorf("the description is no JSON: %w", err)
	}
	if v, _ := d.doc["openapi"].(string); !strings.HasPrefix(v, "3.1.") {
		return d, fmt.Errorf("the description says openapi %q, want 3.1", v)
	}
	return d, nil
}

// findObject finds a member of v that is an object, through references.
func (d Description) findObject(v any, names ...string) map[string]any {
	m, _ := v.(map[string]any)
	for _, name := range append([]string{""}, names...) {
		if name != "" {
			m, _ = m[name].(map[string]any)
		}
		for range 10 { // no reference leads further
			ref, ok := m["$ref"].(string)
			if !ok {
				break
			}
			m = d.doc
			for _, step := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
				m, _ = m[step].(map[string]any)
			}
		}
	}
	return m
}

// operationsOf returns the operations of the path of a request. All matching templates are equally
// good.
func (d Description) operationsOf(path string) map[string]any {
	path, _, _ = strings.Cut(path, "?")
	paths := d.findObject(d.doc, "paths")
	if exact := d.findObject(paths, path); exact != nil {
		return exact
	}
	for template := range paths {
		pattern := regexp.MustCompile(`\\\{[^/]*\\\}`).ReplaceAllString(regexp.QuoteMeta(template), `[^/]+`)
		if regexp.MustCompile("^" + pattern + "$").MatchString(path) {
			return d.findObject(paths, template)
		}
	}
	return nil
}

// Wrong returns how a response differs from the description. A path without description gets 404,
// and another method than those described 405.
func (d Description) Wrong(q Request, got Answer) error {
	operations := d.operationsOf(q.Path)
	if operations == nil {
		if got.Status != 404 {
			return fmt.Errorf("status %d for a path that is not described", got.Status)
		}
		return nil
	}
	operation := d.findObject(operations, strings.ToLower(q.Method))
	if operation == nil && q.Method == "HEAD" {
		operation = d.findObject(operations, "get")
	}
	if operation == nil {
		if got.Status != 405 && (q.Method != "OPTIONS" || got.Status != 204) {
			return fmt.Errorf("status %d for a method that is not described", got.Status)
		}
		return nil
	}
	response := d.findObject(operation, "responses", strconv.Itoa(got.Status))
	if response == nil {
		return fmt.Errorf("status %d is not described", got.Status)
	}
	kinds := d.findObject(response, "content")
	for kind := range kinds {
		name, _, _ := strings.Cut(kind, ";")
		if name != got.Kind {
			continue
		}
		if got.Kind != "application/json" || q.Method == "HEAD" {
			return nil
		}
		var v any
		if err := json.Unmarshal(got.Body, &v); err != nil {
			return fmt.Errorf("status %d: %w: %.80q", got.Status, err, got.Body)
		}
		if err := d.checkSchema(v, d.findObject(kinds, kind, "schema"), "the answer"); err != nil {
			return fmt.Errorf("status %d: %w", got.Status, err)
		}
		return nil
	}
	return fmt.Errorf("status %d: content type %q is not described", got.Status, got.Kind)
}

// checkSchema compares a value with a schema. A nil schema accepts anything.
func (d Description) checkSchema(v any, schema map[string]any, where string) error {
	if err := checkType(v, schema["type"]); err != nil {
		return fmt.Errorf("%s %w", where, err)
	}
	if c, ok := schema["const"]; ok && c != v {
		return fmt.Errorf("%s is %v, not %v", where, v, c)
	}
	if list, ok := schema["enum"].([]any); ok && !slices.Contains(list, v) {
		return fmt.Errorf("%s is %v, none of %v", where, v, list)
	}
	switch v := v.(type) {
	case []any:
		for i := range v {
			if err := d.checkSchema(v[i], d.findObject(schema, "items"), fmt.Sprintf("%s[%d]", where, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if _, ok := v[name.(string)]; !ok {
				return fmt.Errorf("%s has no %s", where, name)
			}
		}
		properties := d.findObject(schema, "properties")
		for name, member := range v {
			_, known := properties[name]
			if closed, ok := schema["additionalProperties"].(bool); !known && ok && !closed {
				return fmt.Errorf("%s has %s, which is not described", where, name)
			}
			if err := d.checkSchema(member, d.findObject(properties, name), where+"."+name); known && err != nil {
				return err
			}
		}
	}
	return nil
}

// checkType compares a value with one type or a list of them.
func checkType(v, types any) error {
	list, many := types.([]any)
	if !many {
		list = []any{types}
	}
	var is string
	switch v := v.(type) {
	case nil:
		is = "null"
	case bool:
		is = "boolean"
	case string:
		is = "string"
	case []any:
		is = "array"
	case map[string]any:
		is = "object"
	case float64:
		if is = "number"; v == math.Trunc(v) && slices.Contains(list, "integer") {
			is = "integer"
		}
	}
	if types == nil || slices.Contains(list, any(is)) {
		return nil
	}
	return fmt.Errorf("is of type %s, not %v", is, types)
}
