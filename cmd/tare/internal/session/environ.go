package session

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

const envHint = "NAME=value, e.g. GOGC=200"

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// CheckEnvironment checks what --env puts into every contender's environment.
func CheckEnvironment(env []string) error {
	seen := map[string]bool{}
	for _, kv := range env {
		name, _, ok := strings.Cut(kv, "=")
		upper := strings.ToUpper(name) // Windows does not tell them apart
		switch {
		case !ok || !envName.MatchString(name):
			return cmdenv.Usage(fmt.Sprintf("--env %q is no variable", kv), envHint)
		case upper == "GOMAXPROCS":
			return cmdenv.Usage("--env GOMAXPROCS is not taken", "--procs N sets it, and the result says so")
		case strings.HasPrefix(upper, "TARE_"):
			return cmdenv.Usage("--env "+name+" is not taken: TARE_ variables are tare's own", "set TARE_CACHE and TARE_DATA in the environment of tare itself")
		case seen[upper]:
			return cmdenv.Usage("--env "+name+" is given twice", "give it one value; two values are two runs")
		}
		seen[upper] = true
	}
	return nil
}
