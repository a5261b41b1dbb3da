package postgrestest

import (
	"errors"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// owner is whom the server runs as; nil: whoever asks.
type owner struct{ credential *syscall.Credential }

// unprivileged is somebody whom PostgreSQL does not refuse.
func unprivileged() (owner, error) {
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
	return owner{}, errors.New("PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody")
}

// own hands over a file or directory.
func (o owner) own(path string) error {
	if o.credential == nil {
		return nil
	}
	return os.Chown(path, int(o.credential.Uid), int(o.credential.Gid))
}

// attributes start a process as the owner, in a group that no terminal interrupts,
// and end it should this program be killed.
func (o owner) attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: o.credential, Setpgid: true, Pdeathsig: syscall.SIGQUIT}
}
