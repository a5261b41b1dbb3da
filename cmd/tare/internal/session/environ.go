package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// --env sets environment variables of contenders, the measured programs. Their values may be secret. So
// documents contain a MAC (a keyed hash) of each value.

const envHint = "NAME=value, e.g. GOGC=200"

var envName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// CheckEnvironment checks the variables that --env adds to every contender's environment.
func CheckEnvironment(env []string) error {
	seen := map[string]bool{}
	for _, kv := range env {
		name, _, ok := strings.Cut(kv, "=")
		upper := strings.ToUpper(name) // Windows ignores case
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

// plainVariables lists settings of the Go runtime and toolchain. They are not secret, so results contain their
// values.
func plainVariables() []string {
	return []string{
		"GOGC", "GOMEMLIMIT", "GODEBUG", "GOTRACEBACK", "GOEXPERIMENT", "GOFIPS140", "GOTOOLCHAIN", "CGO_ENABLED",
		"GO386", "GOAMD64", "GOARM", "GOARM64", "GOMIPS", "GOMIPS64", "GOPPC64", "GORISCV64",
	}
}

// envDigest matches a variable with a MAC, e.g. TOKEN=hmac-sha256:3f…. Its group is the name.
var envDigest = lazyregexp.New(`\b([A-Za-z_][A-Za-z0-9_]*)=hmac-sha256:[0-9a-f]{32}\b`)

// RecordEnv replaces the values in env by MACs with the key of the data directory. Equal values have equal
// MACs. Without the key a value cannot be guessed. Values of plainVariables stay.
func RecordEnv(d cmdenv.Dirs, env []string) ([]string, error) {
	list := slices.Clone(env)
	for i, kv := range list {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(plainVariables(), name) {
			continue
		}
		key, err := ensureKey(d)
		if err != nil {
			return nil, err
		}
		list[i] = name + "=hmac-sha256:" + hexMAC(key, []byte("env "+kv))[:32]
	}
	return list, nil
}

// MaskEnv returns env for messages, as NAME=…. Values of plainVariables stay.
func MaskEnv(env []string) []string {
	list := slices.Clone(env)
	for i, kv := range list {
		if name, _, _ := strings.Cut(kv, "="); !slices.Contains(plainVariables(), name) {
			list[i] = name + "=…"
		}
	}
	return list
}

// RestoreEnv replaces the MACs in record by values (NAME=value), whose MACs it compares. MACs of another
// machine (foreign) cannot be compared.
func RestoreEnv(d cmdenv.Dirs, record, values []string, foreign bool) ([]string, error) {
	values = slices.Clone(values)
	env := slices.Clone(record)
	for i, kv := range env {
		if digest := envDigest.FindString(kv); digest == "" || digest != kv {
			continue // record has the value itself
		}
		name, _, _ := strings.Cut(kv, "=")
		k := slices.IndexFunc(values, func(v string) bool { return strings.HasPrefix(v, name+"=") })
		if k < 0 {
			return nil, cmdenv.Usage("the result keeps no value of "+name, "give it again: --env "+name+"=VALUE")
		}
		recorded, err := RecordEnv(d, values[k:k+1])
		if err != nil {
			return nil, err
		}
		if recorded[0] != kv && !foreign {
			return nil, cmdenv.Usage("--env "+name+" has another value than the result was made with", "tare run and tare bench measure with another value")
		}
		env[i] = values[k]
		values = slices.Delete(values, k, k+1)
	}
	if len(values) > 0 {
		name, _, _ := strings.Cut(values[0], "=")
		return nil, cmdenv.Usage("--env "+name+" is not a variable that the result has without its value", "leave it out: a result is measured again in the environment it was made in")
	}
	return env, nil
}

// replaceEnv replaces MACs of another machine by the entries of record. Texts of several machines can then be
// equal.
func replaceEnv(text string, record []string) string {
	return envDigest.ReplaceAllStringFunc(text, func(digest string) string {
		name, _, _ := strings.Cut(digest, "=")
		for _, kv := range record {
			if strings.HasPrefix(kv, name+"=") {
				return kv
			}
		}
		return digest
	})
}

// withoutValues replaces entries of env, values of --env in args, by those of record.
func withoutValues(args, env, record []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		for k, kv := range env {
			switch {
			case arg == "--env="+kv:
				args[i] = "--env=" + record[k]
			case i > 0 && args[i-1] == "--env" && arg == kv:
				args[i] = record[k]
			}
		}
	}
	return args
}
