package trial

import (
	"slices"
	"strings"
)

// inheritedVars lists the environment variables that a contender, the measured program, inherits.
// Programs do not run without them. Other variables must not influence a study: for example, GOGC
// and GODEBUG change how Go programs run.
func inheritedVars() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LC_ALL",
		"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"TARE_CACHE", // needed by a tare that is itself measured
		"TEMP", "TMP", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
	}
}

// makeEnv returns the environment of a contender: the inheritedVars of caller and then extra.
func makeEnv(caller, extra []string) []string {
	inherited := inheritedVars()
	var env []string
	for _, kv := range caller {
		if name, _, ok := strings.Cut(kv, "="); ok && slices.Contains(inherited, strings.ToUpper(name)) {
			env = append(env, kv)
		}
	}
	return append(env, extra...) // package exec uses the last value of a variable
}
