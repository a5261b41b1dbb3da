package homelab

import (
	_ "embed"
	"slices"
)

//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the service's description.
func OpenAPI() []byte { return slices.Clone(openAPI) }
