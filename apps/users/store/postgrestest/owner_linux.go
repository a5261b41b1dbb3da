package postgrestest

import (
	"errors"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// owner is the server's user; nil means the current one.
type owner struct{ credential *syscall.Credential }

// unprivilegedOwner returns the current user, or another one for root, as which PostgreSQL does not run.
func unprivilegedOwner() (owner, error) {
	if os.Geteuid() != 0 {
		return owner{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			continue
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			continue
		}
		return owner{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
	}
	return owner{}, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")
}

func (o owner) chownFile(path string) error {
	if o.credential == nil {
		return nil
	}
	return os.Chown(path, int(o.credential.Uid), int(o.credential.Gid))
}

// procAttr returns attributes to start a process as the owner. The process has its own process group, safe from
// the terminal's interrupt. It ends if this program is killed.
func (o owner) procAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: o.credential, Setpgid: true, Pdeathsig: syscall.SIGQUIT}
}
