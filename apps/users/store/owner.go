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

// A database is named after the program that it is for, so that a later one can
// tell whether that has ended, however it did:
//
//	tare_store_DAY_HOST_PROCESS_STARTED_RANDOM
//
// DAY is the server's. HOST stands for the machine since it was started, and for
// the namespace of processes. STARTED is when the process was; 0: the system does
// not tell.
const ownedPrefix = "tare_store_"

// owner is a program that has databases.
type owner struct {
	host    string
	process int
	started string
}

// self is this program.
func self() owner {
	h := sha256.New()
	name, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	fmt.Fprintf(h, "%s\n%s\n%s", name, boot, space)
	pid := os.Getpid()
	return owner{hex.EncodeToString(h.Sum(nil)[:4]), pid, startOf(pid)}
}

// startOf is when a process was started, in the system's own count; 0: not known.
func startOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "0"
	}
	// The name of its program is in brackets, and may have any in itself.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const at = 19 // the 22nd of all
	if len(fields) <= at {
		return "0"
	}
	return fields[at]
}

// database is a name for another database of o's.
func (o owner) database(day string) string {
	var tail [4]byte
	_, _ = rand.Read(tail[:]) // never fails
	return fmt.Sprintf("%s%s_%s_%d_%s_%x", ownedPrefix, day, o.host, o.process, o.started, tail)
}

// ownerOf is the program that a database was made for.
func ownerOf(database string) (owner, bool) {
	parts := strings.Split(strings.TrimPrefix(database, ownedPrefix), "_")
	if len(parts) != 5 {
		return owner{}, false
	}
	pid, err := strconv.Atoi(parts[2])
	return owner{parts[1], pid, parts[3]}, err == nil && pid > 0
}

// ended reports whether o has, as far as o can be seen from here.
func (o owner) ended() bool {
	if here := self(); o.host != here.host {
		return false
	}
	if now := startOf(o.process); now != "0" && o.started != "0" {
		return now != o.started
	}
	p, err := os.FindProcess(o.process)
	if err != nil {
		return true
	}
	defer func() { _ = p.Release() }()
	err = p.Signal(syscall.Signal(0))
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}
