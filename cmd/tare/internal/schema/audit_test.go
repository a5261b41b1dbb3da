package schema

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// Documents of an audit are valid, and every field that they have is described.
func TestAuditDocumentsAreValid(t *testing.T) {
	const name = "audit.schema.json"
	s := compile(t, name)
	finding := audit.Finding{Rule: "r", Severity: tare.Void, File: "f", Line: 1, Column: 1, Name: "n", What: "w", Why: "y", Do: "d", Command: "tare c"}
	for _, d := range []audit.Document{
		{Schema: audit.Schema, Read: []string{"r"}, Notes: []string{"n"}, Findings: []audit.Finding{finding, {Severity: tare.Note}}},
		{Schema: audit.Schema, Read: []string{}, Notes: []string{}, Findings: []audit.Finding{}},
	} {
		src, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(decode(t, src)); err != nil {
			t.Error(err)
		}
	}
	var described struct {
		Properties map[string]any
		Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal(read(t, name), &described); err != nil {
		t.Fatal(err)
	}
	checkFields(t, map[reflect.Type]map[string]any{
		reflect.TypeFor[audit.Document](): described.Properties, reflect.TypeFor[audit.Finding](): described.Defs["finding"].Properties,
	})
}
