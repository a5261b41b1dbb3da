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

// IsDocument reports whether a file is an OpenAPI document, by its beginning: it has
// openapi or swagger as a key. If it is cut off, paths, components or definitions will do,
// which can be so long that the version comes after.
func IsDocument(begin []byte, isCut bool) bool {
	begin = bytes.TrimPrefix(begin, []byte("\ufeff"))
	start := bytes.TrimLeft(begin, " \t\r\n")
	if len(start) == 0 || start[0] != '{' {
		return yamlVersion.Match(begin) || isCut && yamlContent.Match(begin)
	}
	return flowVersion.Match(start) || isObject(start, isCut)
}

// isObject reports whether the object of JSON that src begins with is a document.
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
