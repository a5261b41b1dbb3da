//go:build unix

package machine

import (
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// ForeignOwner returns the user that owns a file, or "" if that is the caller. If root is the caller,
// the user who called sudo counts as the caller too.
func ForeignOwner(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || isCaller(stat.Uid, os.Geteuid(), os.Getenv("SUDO_UID")) {
		return ""
	}
	id := strconv.FormatUint(uint64(stat.Uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return "user " + u.Username
	}
	return "user " + id
}

// isCaller reports whether the uid owner is the caller or, for root, the user who called sudo. sudo is
// the value of SUDO_UID. Git has the same rule.
func isCaller(owner uint32, caller int, sudo string) bool {
	if int64(owner) == int64(caller) {
		return true
	}
	id, err := strconv.ParseUint(sudo, 10, 32)
	return caller == 0 && err == nil && uint64(owner) == id
}
