package trial

import (
	"slices"
	"strings"
)

// inheritedVars lists the variables of the caller that a contender gets: those that a program needs
// to run at all. It omits all others, above all those that change how a Go program runs (GOGC,
// GOMEMLIMIT, GODEBUG, GOMAXPROCS, GOTRACEBACK): a shell's settings must not influence a study.
func inheritedVars() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LC_ALL",
		"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"TARE_CACHE", // a tare that a study measures finds the built contenders there
		"TEMP", "TMP", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
	}
}

// makeEnv returns the inherited variables of caller followed by extra.
func makeEnv(caller, extra []string) []string {
	keep := inheritedVars()
	var env []string
	for _, kv := range caller {
		if name, _, ok := strings.Cut(kv, "="); ok && slices.Contains(keep, strings.ToUpper(name)) {
			env = append(env, kv)
		}
	}
	return append(env, extra...) // of two with one name, the later counts
}
