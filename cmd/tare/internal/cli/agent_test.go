package cli_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// An agent refuses with a line what is not an order for it.
func TestAgentRefuses(t *testing.T) {
	for why, in := range map[string]string{
		"ended before an order": "",
		"not one":               "nonsense\n",
		"takes tare.agent/1":    `{"protocol": "tare.agent/0"}` + "\n",
		"number of rounds":      `{"protocol": "tare.agent/1", "rounds": -1}` + "\n",
	} {
		var out, errs bytes.Buffer
		code := cli.Main(t.Context(), cmdenv.Env{Args: []string{"agent"}, In: strings.NewReader(in), Out: &out, Err: &errs, Getenv: home(t)})
		if code != cmdenv.ExitUsage || out.Len() > 0 || !strings.Contains(errs.String(), why) || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%s: exit code %d, %q", why, code, errs.String())
		}
	}
}

// What cannot be ordered from other machines is said before any is asked.
func TestRunOnRefuses(t *testing.T) {
	for why, args := range map[string][]string{
		"not a machine":   {"run", "json-encode", "--rounds", "6", "--on", "ssh:-oProxyCommand=sh"},
		"needs --rounds":  {"run", "json-encode", "--on", "local"},
		"takes one study": {"run", "--rounds", "6", "--on", "local"},
		"--profile":       {"run", "json-encode", "--rounds", "6", "--on", "local", "--profile", "cpu"},
	} {
		var errs bytes.Buffer
		code := cli.Main(t.Context(), cmdenv.Env{Args: args, In: strings.NewReader(""), Out: io.Discard, Err: &errs, Getenv: home(t)})
		if code != cmdenv.ExitUsage || !strings.Contains(errs.String(), why) {
			t.Errorf("%s: exit code %d, %q", why, code, errs.String())
		}
	}
}
