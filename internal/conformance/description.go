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

// object finds a member of v that is an object, through references.
func (d Description) object(v any, names ...string) map[string]any {
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

// operations are those of the path that a request is for. A template is as good
// as any other path that fits.
func (d Description) operations(path string) map[string]any {
	path, _, _ = strings.Cut(path, "?")
	paths := d.object(d.doc, "paths")
	if exact := d.object(paths, path); exact != nil {
		return exact
	}
	for template := range paths {
		pattern := regexp.MustCompile(`\\\{[^/]*\\\}`).ReplaceAllString(regexp.QuoteMeta(template), `[^/]+`)
		if regexp.MustCompile("^" + pattern + "$").MatchString(path) {
			return d.object(paths, template)
		}
	}
	return nil
}

// Wrong says what of an answer is not described. What nobody describes is
// answered with 404, and another method than those described with 405.
func (d Description) Wrong(q Request, got Answer) error {
	operations := d.operations(q.Path)
	if operations == nil {
		if got.Status != 404 {
			return fmt.Errorf("status %d for a path that is not described", got.Status)
		}
		return nil
	}
	operation := d.object(operations, strings.ToLower(q.Method))
	if operation == nil && q.Method == "HEAD" {
		operation = d.object(operations, "get")
	}
	if operation == nil {
		if got.Status != 405 && (q.Method != "OPTIONS" || got.Status != 204) {
			return fmt.Errorf("status %d for a method that is not described", got.Status)
		}
		return nil
	}
	response := d.object(operation, "responses", strconv.Itoa(got.Status))
	if response == nil {
		return fmt.Errorf("status %d is not described", got.Status)
	}
	kinds := d.object(response, "content")
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
		if err := d.fits(v, d.object(kinds, kind, "schema"), "the answer"); err != nil {
			return fmt.Errorf("status %d: %w", got.Status, err)
		}
		return nil
	}
	return fmt.Errorf("status %d: content type %q is not described", got.Status, got.Kind)
}

// fits holds a value against a schema; nil: anything fits.
func (d Description) fits(v any, schema map[string]any, where string) error {
	if err := typed(v, schema["type"]); err != nil {
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
			if err := d.fits(v[i], d.object(schema, "items"), fmt.Sprintf("%s[%d]", where, i)); err != nil {
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
		properties := d.object(schema, "properties")
		for name, member := range v {
			_, known := properties[name]
			if closed, ok := schema["additionalProperties"].(bool); !known && ok && !closed {
				return fmt.Errorf("%s has %s, which is not described", where, name)
			}
			if err := d.fits(member, d.object(properties, name), where+"."+name); known && err != nil {
				return err
			}
		}
	}
	return nil
}

// typed holds a value against one type or a list of them.
func typed(v, types any) error {
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
