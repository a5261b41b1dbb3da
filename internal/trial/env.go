package trial

import (
	"slices"
	"strings"
)

// inheritedVars lists the environment variables that a contender inherits from the caller, because
// programs need them to run at all. Other settings of a shell must not influence a study, above all
// those that change how a Go program runs (GOGC, GOMEMLIMIT, GODEBUG, GOMAXPROCS, GOTRACEBACK).
func inheritedVars() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LC_ALL",
		"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"TARE_CACHE", // a tare that a study measures finds the built contenders there
		"TEMP", "TMP", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
	}
}

// makeEnv returns a contender's environment: the inheritedVars of caller, followed by extra.
func makeEnv(caller, extra []string) []string {
	inherited := inheritedVars()
	var env []string
	for _, kv := range caller {
		if name, _, ok := strings.Cut(kv, "="); ok && slices.Contains(inherited, strings.ToUpper(name)) {
			env = append(env, kv)
		}
	}
	return append(env, extra...) // package exec uses the last of several values of a variable
}
