package schema

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/dryrun"
	"github.com/tarebench/tare/contender/wire"
)

// properties returns what a schema describes of its document, and of its definitions by name.
func properties(t *testing.T, name string) (document map[string]any, defs map[string]map[string]any) {
	t.Helper()
	var schema struct {
		Properties map[string]any
		Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal(read(t, name), &schema); err != nil {
		t.Fatal(err)
	}
	defs = map[string]map[string]any{}
	for name, def := range schema.Defs {
		defs[name] = def.Properties
	}
	return schema.Properties, defs
}

// Every field that a dry run has is described, and no other. The scripts of the command validate documents.
func TestDryRunSchemaKnowsEveryField(t *testing.T) {
	document, defs := properties(t, "dryrun.schema.json")
	checkFields(t, map[reflect.Type]map[string]any{
		reflect.TypeFor[dryrun.Document](): document, reflect.TypeFor[dryrun.Build](): defs["build"],
		reflect.TypeFor[dryrun.Study](): defs["study"], reflect.TypeFor[dryrun.File](): defs["file"],
		reflect.TypeFor[wire.HTTPRequest](): defs["request"],
	})
}

// An event of progress, and any other line on stderr, is what the schema describes.
func TestProgressLinesAreValid(t *testing.T) {
	var out bytes.Buffer
	lines := cmdenv.NewProgressLines(&out)
	lines.Emit(cmdenv.ProgressEvent{Phase: "round", Study: "s", Done: 1, Of: 12, Text: "1 of 12 rounds"})
	for _, text := range []string{"tare: a", " <line>\n\n", "another\nwithout an end"} {
		if _, err := lines.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	lines.Flush()
	s := compile(t, "progress.schema.json")
	var texts []string
	for line := range bytes.Lines(out.Bytes()) {
		var e cmdenv.ProgressEvent
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if err := s.Validate(decode(t, line)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		texts = append(texts, e.Text)
	}
	if want := []string{"1 of 12 rounds", "tare: a <line>", "another", "without an end"}; !reflect.DeepEqual(texts, want) {
		t.Errorf("%q, want %q", texts, want)
	}
	document, _ := properties(t, "progress.schema.json")
	checkFields(t, map[reflect.Type]map[string]any{reflect.TypeFor[cmdenv.ProgressEvent](): document})
}
