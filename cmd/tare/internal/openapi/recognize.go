package openapi

import (
	"bytes"
	"encoding/json"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// Keys of a document in YAML, possibly in quotes. yamlVersion matches the line openapi: 3.1.0,
// yamlContent the line paths:. flowVersion matches the beginning of a flow mapping, {openapi: 3.1.0.
var (
	yamlVersion = lazyregexp.New(`(?m)^["']?(?:openapi|swagger)["']?[ \t]*:(?:[ \t]|\r?$)`)
	yamlContent = lazyregexp.New(`(?m)^["']?(?:paths|components|definitions)["']?[ \t]*:[ \t]*(?:#.*)?\r?$`)
	flowVersion = lazyregexp.New(`^\{\s*["']?(?:openapi|swagger)["']?\s*:`)
)

// yamlProlog matches what comes before the content: empty lines, comments such as # Pets, and the
// marker ---.
var yamlProlog = lazyregexp.New(`\A(?:[ \t]*(?:#.*)?\r?\n|---(?:[ \t]*(?:#.*)?\r?\n|[ \t]+))*`)

// IsDocument reports whether a file with this beginning is an OpenAPI document: it has a key openapi or
// swagger. isCut means that the file is longer than begin. Then a key paths, components or definitions
// is enough: the version may come after its value.
func IsDocument(begin []byte, isCut bool) bool {
	begin = bytes.TrimPrefix(begin, []byte("\ufeff"))
	begin = begin[len(yamlProlog.FindString(string(begin))):]
	start := bytes.TrimLeft(begin, " \t\r\n")
	if len(start) == 0 || start[0] != '{' {
		if indent := len(begin) - len(bytes.TrimLeft(begin, " ")); indent > 0 { // the root mapping is indented
			begin = bytes.ReplaceAll(begin[indent:], append([]byte("\n"), begin[:indent]...), []byte("\n"))
		}
		return yamlVersion.Match(begin) || isCut && yamlContent.Match(begin)
	}
	return flowVersion.Match(start) || isObject(start, isCut)
}

// isObject reports whether the JSON object at the start of src is a document, by its own keys (depth
// 1).
func isObject(src []byte, isCut bool) bool {
	dec := json.NewDecoder(bytes.NewReader(src))
	depth := 0
	isKey := false     // the next string at depth 1 is a key
	inContent := false // the last key was paths, components or definitions
	for {
		token, err := dec.Token()
		if err != nil {
			return isCut && inContent && depth > 0
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
				inContent, isKey = v == "paths" || v == "components" || v == "definitions", false
				continue
			}
		}
		isKey = depth == 1
	}
}
