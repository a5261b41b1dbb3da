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

// Description is the OpenAPI 3.1 document of an app, with which the responses of servers are
// compared.
//
// Paths, methods, statuses and media types are compared. Of schemas these are: type, const, enum,
// required, properties, additionalProperties, items and $ref.
type Description struct{ doc map[string]any }

// ParseDescription parses an OpenAPI document in JSON.
func ParseDescription(text []byte) (Description, error) {
	var d Description
	if err := json.Unmarshal(text, &d.doc); err != nil {
		return d, fmt.Errorf("the description is no JSON: %w", err)
	}
	if v, _ := d.doc["openapi"].(string); !strings.HasPrefix(v, "3.1.") {
		return d, fmt.Errorf("the description has openapi %q, want 3.1", v)
	}
	return d, nil
}

// findObject returns the member of v to which names lead, one level of the JSON document each. It
// follows references on the way. It returns nil if there is no such object.
func (d Description) findObject(v any, names ...string) map[string]any {
	m, _ := v.(map[string]any)
	for _, name := range append([]string{""}, names...) { // "" is v itself, perhaps a reference
		if name != "" {
			m, _ = m[name].(map[string]any)
		}
		for range 10 { // more references in a row would be a cycle
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

// operationsOf returns the operations that the document has for the path of a request, by method.
// If several templates such as /users/{id} match, it uses any of them. It returns nil if none
// matches.
func (d Description) operationsOf(path string) map[string]any {
	path, _, _ = strings.Cut(path, "?")
	paths := d.findObject(d.doc, "paths")
	if exact := d.findObject(paths, path); exact != nil {
		return exact
	}
	for template := range paths {
		// In a quoted template, {id} is \{id\}. It becomes a pattern for one segment.
		pattern := regexp.MustCompile(`\\\{[^/]*\\\}`).ReplaceAllString(regexp.QuoteMeta(template), `[^/]+`)
		if regexp.MustCompile("^" + pattern + "$").MatchString(path) {
			return d.findObject(paths, template)
		}
	}
	return nil
}

// CheckResponse checks that the document allows got as the response to request. A path that the document lacks
// must get status 404. An unknown method must get 405, or 204 if it is OPTIONS.
func (d Description) CheckResponse(request Request, got Response) error {
	operations := d.operationsOf(request.Path)
	if operations == nil {
		if got.Status != 404 {
			return fmt.Errorf("status %d for a path that is not described", got.Status)
		}
		return nil
	}
	operation := d.findObject(operations, strings.ToLower(request.Method))
	if operation == nil && request.Method == "HEAD" {
		operation = d.findObject(operations, "get")
	}
	if operation == nil {
		isOptions := request.Method == "OPTIONS" && got.Status == 204
		if got.Status != 405 && !isOptions {
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
		if name != got.ContentType {
			continue
		}
		if got.ContentType != "application/json" || request.Method == "HEAD" {
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
	return fmt.Errorf("status %d: content type %q is not described", got.Status, got.ContentType)
}

// checkSchema returns an error if the schema does not allow v; a nil schema allows any value. where
// names the value in errors, as in "the answer.users[0]".
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
			_, isDescribed := properties[name]
			if allowed, ok := schema["additionalProperties"].(bool); !isDescribed && ok && !allowed {
				return fmt.Errorf("%s has %s, which is not described", where, name)
			}
			if err := d.checkSchema(member, d.findObject(properties, name), where+"."+name); isDescribed && err != nil {
				return err
			}
		}
	}
	return nil
}

// checkType checks the JSON type of v. types is a name, a list of names, or nil for any type.
func checkType(v, types any) error {
	list, isList := types.([]any)
	if !isList {
		list = []any{types}
	}
	var actual string
	switch v := v.(type) {
	case nil:
		actual = "null"
	case bool:
		actual = "boolean"
	case string:
		actual = "string"
	case []any:
		actual = "array"
	case map[string]any:
		actual = "object"
	case float64:
		actual = "number"
		if v == math.Trunc(v) && slices.Contains(list, "integer") {
			actual = "integer"
		}
	}
	if types == nil || slices.Contains(list, any(actual)) {
		return nil
	}
	return fmt.Errorf("is of type %s, not %v", actual, types)
}
