package cli_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// An agent refuses with a line what is no coordinator for it, and flags that name
// none.
func TestAgentRefuses(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for why, c := range map[string]struct {
		in   string
		args []string
	}{
		"one coordinator":           {},
		"ended before":              {args: []string{"--stdio"}},
		"no welcome":                {"nonsense\n", []string{"--stdio"}},
		"speaks tare.agent/3":       {`{"protocol": "tare.agent/0"}` + "\n", []string{"--stdio"}},
		"is not a name":             {`{"protocol": "tare.agent/3", "name": "a.b"}` + "\n", []string{"--stdio"}},
		"is not a prefix":           {`{"protocol": "tare.agent/3", "name": "a", "prefix": ">"}` + "\n", []string{"--stdio"}},
		"longer than":               {strings.Repeat("x", 5000), []string{"--stdio"}},
		"needs --token-file":        {args: []string{"--join", "127.0.0.1:1"}},
		"one word of 16":            {args: []string{"--join", "127.0.0.1:1", "--token-file", token}},
		"--name":                    {args: []string{"--nats", "nats://127.0.0.1:1", "--name", "a b"}},
		"letters, digits, - and _,": {args: []string{"--nats", "nats://127.0.0.1:1", "--fleet", "*"}},
	} {
		var out, errs bytes.Buffer
		code := cli.Main(t.Context(), cmdenv.Env{Args: append([]string{"agent"}, c.args...), In: strings.NewReader(c.in), Out: &out, Err: &errs, Getenv: home(t)})
		if code != cmdenv.ExitUsage || out.Len() > 0 || !strings.Contains(errs.String(), why) || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%s: exit code %d, %q", why, code, errs.String())
		}
	}
}

// What cannot be ordered from other machines is said before any is asked.
func TestRunOnRefuses(t *testing.T) {
	doc := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(doc, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for why, args := range map[string][]string{
		"not a machine":                       {"run", "json-encode", "--rounds", "6", "--on", "ssh:-oProxyCommand=sh"},
		"needs --rounds":                      {"run", "json-encode", "--on", "local"},
		"takes one study":                     {"run", "--rounds", "6", "--on", "local"},
		"need a place":                        {"run", "json-encode", "--rounds", "6", "--on", "agent:a"},
		"contradict":                          {"run", "json-encode", "--rounds", "6", "--on", "agent:a", "--listen", ":0", "--nats", "nats://x"},
		"does not take":                       {"load", "--on", "local", "--search", "--slo", "p99<1s", ":1"},
		"for 2 machines":                      {"load", "--on", "local,ssh:a", "-c", "1", ":1"},
		"tare fleet needs --listen or --nats": {"fleet"},
		"--until":                             {"run", "json-encode", "--rounds", "6", "--on", "local", "--until", "decided"},
		"--catalog":                           {"run", "json-encode", "--rounds", "6", "--on", "local", "--catalog", "."},
		"--no-lock":                           {"json", doc, "--rounds", "6", "--on", "local", "--no-lock"},
		"directory of one machine":            {"run", "json-encode", "--rounds", "6", "--on", "local", "--with", "github.com/goccy/go-json=../../../.."},
		"--max":                               {"bench", "--base", "HEAD", "--rounds", "6", "--on", "local", "--max", "1m"},
		"measures --rounds":                   {"bench", "--base", "HEAD", "--on", "local", "--budget", "1m"},
		"--shard machines needs --on":         {"bench", "--base", "HEAD", "--shard", "machines"},
		"nothing to compare":                  {"bench", "--rounds", "6", "--on", "local"},
		"from a file":                         {"routes", "-", "--rounds", "6", "--on", "local"},
	} {
		var errs bytes.Buffer
		code := cli.Main(t.Context(), cmdenv.Env{Args: args, In: strings.NewReader("GET /\n"), Out: io.Discard, Err: &errs, Getenv: home(t)})
		if code != cmdenv.ExitUsage || !strings.Contains(errs.String(), why) {
			t.Errorf("%s: exit code %d, %q", why, code, errs.String())
		}
	}
}
