package trial

import (
	"slices"
	"strings"
)

// inheritedVars lists the variables without which programs do not run. Others must not influence a study. GOGC
// and GODEBUG, for example, change how Go programs run.
func inheritedVars() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LC_ALL",
		"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"TARE_CACHE", // needed by a tare that is itself measured
		"TEMP", "TMP", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
	}
}

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
