package cli_test

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// errorsFile is a variable with the file to which each tare of a script adds its error as
// --json would print it.
const errorsFile = "TARE_TEST_ERRORS"

// recordError adds err to the file of [errorsFile]. One write adds one line whole.
func recordError(path string, err error) {
	name := os.Getenv(errorsFile)
	if name == "" || err == nil {
		return
	}
	f, errOpen := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if errOpen == nil {
		errOpen = errors.Join(cmdenv.WriteError(f, path, err), f.Close())
	}
	if errOpen != nil {
		panic(errOpen)
	}
}

// checkErrors checks every error that the scripts have met against the schema, and that
// the commands which it names exist with their flags.
func checkErrors(t *testing.T, name string) {
	if t.Failed() || t.Skipped() {
		return
	}
	schema := compileErrors(t)
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("no script met an error: %v", err)
	}
	codes := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(src))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		checkError(t, schema, lines.Text())
		_, rest, _ := strings.Cut(lines.Text(), `"code":"`)
		code, _, _ := strings.Cut(rest, `"`)
		codes[code]++
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	t.Logf("errors by code: %v", codes)
}

// checkError checks one document.
func checkError(t *testing.T, schema *jsonschema.Schema, line string) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
	if err == nil {
		err = schema.Validate(doc)
	}
	if err != nil {
		t.Errorf("%s: %v", line, err)
		return
	}
	next, _ := doc.(map[string]any)["error"].(map[string]any)["next"].([]any)
	for _, command := range next {
		if err := checkCommand(command.(string)); err != nil {
			t.Errorf("%s: %s: %v", line, command, err)
		}
	}
}

// checkCommand parses a command and its flags. It carries nothing out.
func checkCommand(text string) error {
	cmd, args, err := cli.Commands().Find(strings.Fields(text)[1:])
	if err == nil {
		cmd.InitDefaultHelpFlag()
		err = cmd.ParseFlags(args)
	}
	if cmd.HasSubCommands() && len(cmd.Flags().Args()) > 0 && cmd.Args == nil {
		err = errors.Join(err, cobra.NoArgs(cmd, cmd.Flags().Args()))
	}
	return err
}

func compileErrors(t *testing.T) *jsonschema.Schema {
	t.Helper()
	path, err := filepath.Abs("../../../../docs/schema/error.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile(path)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// TestErrorsAsJSON runs commands that fail, of every command that has --json: the last
// line of stdout is the error, and stderr has its line as well.
func TestErrorsAsJSON(t *testing.T) {
	schema := compileErrors(t)
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("study: bad\nkins: [codec]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"rnu"}, {"run", bad, "-q"}, {"run", "nosuch", "-q"}, {"json", bad}, {"report", "nosuch"}} {
		var out, errs bytes.Buffer
		code := cli.Main(t.Context(), cmdenv.Env{Args: append(args, "--json"), Getenv: home(t), Out: &out, Err: &errs})
		if code != cmdenv.ExitUsage || !strings.HasPrefix(errs.String(), "tare: ") {
			t.Errorf("%v: exit code %d, stderr %q", args, code, errs.String())
		}
		checkError(t, schema, out.String())
	}
	for _, command := range commands(t) {
		cmd, _, err := cli.Commands().Find(command)
		if err != nil || cmd.Flags().Lookup("json") == nil {
			continue
		}
		var out, errs bytes.Buffer
		code := cli.Main(t.Context(), cmdenv.Env{Args: append(command, "--json", "--no-such-flag"), Getenv: home(t), Out: &out, Err: &errs})
		if code != cmdenv.ExitUsage {
			t.Errorf("%v: exit code %d", command, code)
		}
		checkError(t, schema, out.String())
	}
}
