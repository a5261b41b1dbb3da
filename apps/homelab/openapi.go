package homelab

import (
	_ "embed"
	"slices"
)

//go:embed openapi.json
var openAPI []byte

// OpenAPI returns a copy of the OpenAPI document that describes the service.
func OpenAPI() []byte { return slices.Clone(openAPI) }
