package cli_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/testtare"
)

// TestMCP serves a client by tare mcp itself: a kept run is listed, read and judged,
// and errors are documents.
func TestMCP(t *testing.T) {
	getenv := home(t)
	run := filepath.Join(getenv("TARE_DATA"), "results", "json-encode", "20260301T120000Z-7")
	if err := os.MkdirAll(run, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(run, "result.json"), unpack(t, "testdata/compat/json-encode.json.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := seedSQLite(getenv("TARE_CACHE"), testtare.Cache(t)); err != nil {
		t.Fatal(err)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		code := cli.Main(t.Context(), cmdenv.Env{Args: []string{"mcp"}, Getenv: getenv, In: in, Out: out, Err: io.Discard})
		out.Close()
		ended <- code
	}()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "v1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool, input string
		failed      bool
		want        []string
	}{
		{"explain", `{"name":"control"}`, false, []string{`"kind":"word"`}},
		{"explain", `{"name":"contrl"}`, true, []string{`"code":"usage"`, `did you mean control?`, `"next":["tare list"]`}},
		{"results", `{}`, false, []string{`"run":"json-encode/20260301T120000Z-7"`}},
		{"results", `{"run":"json-encode/20260301T120000Z-7"}`, false, []string{`"ratios":[`, `"low":`}},
		{"gate_verdict", `{"run":"json-encode/20260301T120000Z-7"}`, false, []string{`"verdicts":[`, `"exit_code":0`}},
		{"bench", `{"base":"HEAD~1"}`, true, []string{"--allow-commands"}},
	} {
		res, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.input)})
		if err != nil {
			t.Fatal(err)
		}
		text := res.Content[0].(*sdk.TextContent).Text
		for _, want := range c.want {
			if res.IsError != c.failed || !strings.Contains(text, want) {
				t.Errorf("%s %s: %.400s, want %s", c.tool, c.input, text, want)
			}
		}
		if c.failed {
			checkError(t, compileErrors(t), text)
		}
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	toServer.Close()
	if code := <-ended; code != cmdenv.ExitOK {
		t.Errorf("exit code %d", code)
	}
}
