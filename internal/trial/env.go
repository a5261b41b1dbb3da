package trial

import (
	"slices"
	"strings"
)

// inherited are the variables of the caller that a contender gets: what a
// program needs to run at all. Everything else stays behind, above all what
// changes how a Go program runs (GOGC, GOMEMLIMIT, GODEBUG, GOMAXPROCS,
// GOTRACEBACK): a shell's settings must not weigh into a study.
func inherited() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LC_ALL",
		"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"TARE_CACHE", // a tare that a study measures finds the built contenders there
		"TEMP", "TMP", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
	}
}

// environment is the caller's minimal one with extra on top.
func environment(caller, extra []string) []string {
	keep := inherited()
	var env []string
	for _, kv := range caller {
		if name, _, ok := strings.Cut(kv, "="); ok && slices.Contains(keep, strings.ToUpper(name)) {
			env = append(env, kv)
		}
	}
	return append(env, extra...) // of two with one name, the later counts
}
