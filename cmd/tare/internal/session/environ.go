package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file handles the environment variables that --env sets for contenders, the measured programs. Their
// values may be secret, so documents contain a MAC (a keyed hash) of a value in its place.

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

// plainVariables returns the settings of the Go runtime and toolchain, whose values are not secret. Results
// contain the values.
func plainVariables() []string {
	return []string{
		"GOGC", "GOMEMLIMIT", "GODEBUG", "GOTRACEBACK", "GOEXPERIMENT", "GOFIPS140", "GOTOOLCHAIN", "CGO_ENABLED",
		"GO386", "GOAMD64", "GOARM", "GOARM64", "GOMIPS", "GOMIPS64", "GOPPC64", "GORISCV64",
	}
}

// envDigest matches a variable whose value was replaced by its MAC, e.g. TOKEN=hmac-sha256:3f…; its
// group is the name.
var envDigest = lazyregexp.New(`\b([A-Za-z_][A-Za-z0-9_]*)=hmac-sha256:[0-9a-f]{32}\b`)

// RecordEnv returns env in the form in which results, journals and messages contain it: the value of each
// variable that is not in plainVariables is replaced by its MAC with the key of the data directory. Equal
// values have equal MACs, and nobody can guess a value without the key.
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

// MaskEnv returns env for messages without a key: NAME=… for variables that are not in plainVariables.
func MaskEnv(env []string) []string {
	list := slices.Clone(env)
	for i, kv := range list {
		if name, _, _ := strings.Cut(kv, "="); !slices.Contains(plainVariables(), name) {
			list[i] = name + "=…"
		}
	}
	return list
}

// RestoreEnv returns record, the environment in a result, with the original values in place of MACs. It
// takes them from values (NAME=value), and checks that they have the recorded MACs. foreign means that
// another machine made the result, so that the MACs cannot be checked.
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

// replaceEnv replaces the MACs in a text of another machine, which were made with that machine's key,
// by the entries of record for the same variables, so that texts of several machines can be equal.
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

// withoutValues returns the arguments of a command, in which each value of --env, an entry of env, is
// replaced by the entry of record with the same index.
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
