package store

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// A database is named after the program that it is for, so that a later one can find out whether
// that has ended, however it did:
//
//	tare_store_DAY_HOST_PROCESS_STARTED_RANDOM
//
// DAY is the server's. HOST identifies the machine since it was started, and the namespace of
// processes. STARTED is when the process was; 0 if the system does not report it.
const ownedPrefix = "tare_store_"

// owner is a program that has databases.
type owner struct {
	host    string
	process int
	started string
}

// thisOwner returns this program.
func thisOwner() owner {
	h := sha256.New()
	name, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	fmt.Fprintf(h, "%s\n%s\n%s", name, boot, space)
	pid := os.Getpid()
	return owner{hex.EncodeToString(h.Sum(nil)[:4]), pid, startOf(pid)}
}

// startOf returns when a process was started, in the system's own count; 0 if that is not known.
func startOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "0"
	}
	// The name of its program is in brackets, and may contain any.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const at = 19 // the 22nd of all
	if len(fields) <= at {
		return "0"
	}
	return fields[at]
}

// newName returns a name for another database of o.
func (o owner) newName(day string) string {
	var tail [4]byte
	_, _ = rand.Read(tail[:]) // never fails
	return fmt.Sprintf("%s%s_%s_%d_%s_%x", ownedPrefix, day, o.host, o.process, o.started, tail)
}

// ownerOf returns the program that a database was made for.
func ownerOf(database string) (owner, bool) {
	parts := strings.Split(strings.TrimPrefix(database, ownedPrefix), "_")
	if len(parts) != 5 {
		return owner{}, false
	}
	pid, err := strconv.Atoi(parts[2])
	return owner{parts[1], pid, parts[3]}, err == nil && pid > 0
}

// hasEnded reports whether o has ended, as far as this machine can tell.
func (o owner) hasEnded() bool {
	if self := thisOwner(); o.host != self.host {
		return false
	}
	if started := startOf(o.process); started != "0" && o.started != "0" {
		return started != o.started
	}
	p, err := os.FindProcess(o.process)
	if err != nil {
		return true
	}
	defer func() { _ = p.Release() }()
	err = p.Signal(syscall.Signal(0))
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}
