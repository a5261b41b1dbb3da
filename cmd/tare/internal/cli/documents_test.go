package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cli"
)

// documentsFile is a variable with the file to which each tare of a script that was asked for JSON adds what
// it printed.
const documentsFile = "TARE_TEST_DOCUMENTS"

// recordedDocuments is a line of the file of [documentsFile].
type recordedDocuments struct {
	Path string   `json:"path"` // of the command, e.g. tare bench
	Args []string `json:"args"`
	Out  []byte   `json:"out"`
}

// recordDocuments adds what the command at path has printed to the file of [documentsFile]. One write adds one
// line whole.
func recordDocuments(path string, args []string, out []byte) {
	name := os.Getenv(documentsFile)
	if name == "" || len(out) == 0 {
		return
	}
	line, err := json.Marshal(recordedDocuments{path, args, out})
	if err != nil {
		panic(err)
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		panic(err)
	}
}

// schemasOf returns the schemas of what each command with --json prints; a document has to be valid by one of
// them. A name after # is a definition of the schema, and a list may be printed in place of a document.
func schemasOf() map[string][]string {
	const commands = "commands#"
	measured := []string{"result", "dryrun"}
	orList := func(definition string) []string { return append(slices.Clone(measured), commands+definition) }
	return map[string][]string{
		"tare run": measured, "tare bench": measured, "tare json": orList("type"), "tare routes": orList("routes"), "tare rpc": orList("calls"),
		"tare gate": {"gate", "dryrun"}, "tare gate merge": {"gate"},
		"tare load":           {"load", "result", "dryrun"},
		"tare report":         {"result"},
		"tare audit":          {"audit", commands + "rules"},
		"tare bisect":         {commands + "bisect", "dryrun"},
		"tare clean":          {commands + "clean"},
		"tare doctor":         {commands + "doctor", commands + "calibration"},
		"tare explain":        {commands + "explain"},
		"tare fleet":          {commands + "agents"},
		"tare history":        {commands + "runs", commands + "trend"},
		"tare history check":  {commands + "check"},
		"tare history export": {commands + "export"},
		"tare history import": {commands + "import"},
		"tare history pull":   {commands + "import"},
		"tare history push":   {commands + "push"},
		"tare init":           {commands + "init"},
		"tare list":           {commands + "list"},
		"tare new contender":  {commands + "new"},
		"tare rerun":          {commands + "rerun"},
		"tare serve":          {commands + "serve", commands + "serve_plan"},
		"tare verify":         {commands + "verify"},
		"tare version":        {commands + "version"},
	}
}

// schemas compiles schemas once. Those of several commands are closed: their objects have no other properties
// than those that are described.
type schemas map[string]*jsonschema.Schema

// get returns a schema by its name in schemasOf.
func (s schemas) get(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	if s[name] != nil {
		return s[name]
	}
	file, definition, _ := strings.Cut(name, "#")
	src, err := os.ReadFile(filepath.Join("../../../../docs/schema", file+".schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(src))
	if err != nil {
		t.Fatal(err)
	}
	delete(document.(map[string]any), "$id")    // it is found by the name below
	if file == "commands" || file == "dryrun" { // package schema compares the fields of the others
		closeObjects(document)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("urn:tare:test:"+file, document); err != nil {
		t.Fatal(err)
	}
	location := "urn:tare:test:" + file
	if definition != "" {
		location += "#/$defs/" + definition
	}
	if s[name], err = c.Compile(location); err != nil {
		t.Fatal(err)
	}
	return s[name]
}

// closeObjects forbids properties that a schema does not describe, unless it says what they are.
func closeObjects(schema any) {
	switch v := schema.(type) {
	case map[string]any:
		_, isObject := v["properties"].(map[string]any)
		_, isOpen := v["additionalProperties"]
		if isObject && !isOpen && v["type"] == "object" {
			v["additionalProperties"] = false
		}
		for _, item := range v {
			closeObjects(item)
		}
	case []any:
		for _, item := range v {
			closeObjects(item)
		}
	}
}

// validate returns why a document is not valid by any schema of a command; nil if it is.
func (s schemas) validate(t *testing.T, command string, document any) error {
	t.Helper()
	object, _ := document.(map[string]any) // nil for a list
	if _, isError := object["error"]; isError && len(object) == 1 {
		return s.get(t, "error").Validate(document)
	}
	var failed []error
	for _, name := range schemasOf()[command] {
		err := s.get(t, name).Validate(document)
		if err == nil {
			return nil
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// checkDocuments checks everything that commands of the scripts have printed as JSON.
func checkDocuments(t *testing.T, name string) {
	if t.Failed() || t.Skipped() {
		return
	}
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("no script asked for JSON: %v", err)
	}
	all, valid := schemas{}, map[string]int{}
	for line := range bytes.Lines(src) {
		var r recordedDocuments
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		for _, document := range splitDocuments(t, r) {
			if err := all.validate(t, r.Path, document); err != nil {
				t.Errorf("%s: %v", strings.Join(r.Args, " "), err)
				continue
			}
			valid[r.Path]++
		}
	}
	t.Logf("documents by command: %v", valid)
}

// splitDocuments returns the documents that a command printed. A list of results is its results.
func splitDocuments(t *testing.T, r recordedDocuments) (all []any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(r.Out))
	for {
		var raw json.RawMessage
		err := d.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Errorf("%s printed what is no JSON: %v\n%s", strings.Join(r.Args, " "), err, r.Out)
			return all
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		list, isList := document.([]any)
		if isList && slices.Contains(schemasOf()[r.Path], "result") {
			all = append(all, list...)
			continue
		}
		all = append(all, document)
	}
}

// Every command with --json has a schema, and no other has one.
func TestCommandsHaveSchemas(t *testing.T) {
	var with []string
	var addBelow func(cmd *cobra.Command)
	addBelow = func(cmd *cobra.Command) {
		if cmd.Flags().Lookup("json") != nil {
			with = append(with, cmd.CommandPath())
		}
		for _, below := range cmd.Commands() {
			addBelow(below)
		}
	}
	addBelow(cli.Commands())
	slices.Sort(with)
	if known := slices.Sorted(maps.Keys(schemasOf())); !slices.Equal(with, known) {
		t.Errorf("commands with --json: %q, with schemas: %q", with, known)
	}
	all := schemas{}
	for _, names := range schemasOf() {
		for _, name := range names {
			all.get(t, name)
		}
	}
}
