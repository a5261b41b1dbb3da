package openapi

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// Keys of a document in YAML, at the beginning of a line, or the first in braces.
var (
	yamlVersion = regexp.MustCompile(`(?m)^["']?(?:openapi|swagger)["']?[ \t]*:(?:[ \t]|\r?$)`)
	yamlContent = regexp.MustCompile(`(?m)^["']?(?:paths|components|definitions)["']?[ \t]*:[ \t]*(?:#.*)?\r?$`)
	flowVersion = regexp.MustCompile(`^\{\s*["']?(?:openapi|swagger)["']?\s*:`)
)

// IsDocument reports whether a file with this beginning is an OpenAPI document: openapi or
// swagger is a key. If the file is cut off, paths, components or definitions suffice: they can
// be longer than the beginning and precede the version.
func IsDocument(begin []byte, isCut bool) bool {
	begin = bytes.TrimPrefix(begin, []byte("\ufeff"))
	start := bytes.TrimLeft(begin, " \t\r\n")
	if len(start) == 0 || start[0] != '{' {
		return yamlVersion.Match(begin) || isCut && yamlContent.Match(begin)
	}
	return flowVersion.Match(start) || isObject(start, isCut)
}

// isObject reports whether the JSON object at the start of src is a document.
func isObject(src []byte, isCut bool) bool {
	dec := json.NewDecoder(bytes.NewReader(src))
	depth, isKey, content := 0, false, false
	for {
		token, err := dec.Token()
		if err != nil {
			return isCut && content && depth > 0
		}
		switch v := token.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
			} else if depth--; depth == 0 {
				return false
			}
			isKey = depth == 1
			continue
		case string:
			if depth == 1 && isKey {
				switch v {
				case "openapi", "swagger":
					return true
				}
				content, isKey = v == "paths" || v == "components" || v == "definitions", false
				continue
			}
		}
		isKey = depth == 1
	}
}
