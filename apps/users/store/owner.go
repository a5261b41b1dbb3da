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

// ownedPrefix begins the names of temporary databases. A name identifies the program that created it. If that
// was killed, a later program can remove the database:
//
//	tare_store_DAY_HOST_PROCESS_STARTED_RANDOM
//
// DAY is the date of the database server. HOST identifies the boot of the machine and the namespace of
// processes. STARTED is the start time of process PROCESS, or 0 if unknown.
const ownedPrefix = "tare_store_"

type owner struct {
	host    string
	process int
	started string
}

func thisOwner() owner {
	h := sha256.New()
	name, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, _ := os.Readlink("/proc/self/ns/pid")
	fmt.Fprintf(h, "%s\n%s\n%s", name, boot, namespace)
	pid := os.Getpid()
	return owner{host: hex.EncodeToString(h.Sum(nil)[:4]), process: pid, started: startTime(pid)}
}

// startTime returns the start time of a process in clock ticks since boot, or "0" if unknown.
func startTime(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "0"
	}
	// The second field, a name in brackets, may itself have brackets.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const startIndex = 22 - 3 // field 22 in proc_pid_stat(5); fields begins with 3
	if len(fields) <= startIndex {
		return "0"
	}
	return fields[startIndex]
}

// newName returns a database name. day is YYYYMMDD.
func (o owner) newName(day string) string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	return fmt.Sprintf("%s%s_%s_%d_%s_%x", ownedPrefix, day, o.host, o.process, o.started, random)
}

// parseOwner returns the owner in a database name.
func parseOwner(database string) (owner, bool) {
	parts := strings.Split(strings.TrimPrefix(database, ownedPrefix), "_")
	if len(parts) != 5 {
		return owner{}, false
	}
	pid, err := strconv.Atoi(parts[2])
	return owner{host: parts[1], process: pid, started: parts[3]}, err == nil && pid > 0
}

// hasEnded reports whether the program has ended. It returns false for a program of another machine, or if that
// is unknown.
func (o owner) hasEnded() bool {
	if self := thisOwner(); o.host != self.host {
		return false
	}
	started := startTime(o.process)
	if started != "0" && o.started != "0" {
		return started != o.started // the process id may be used again
	}
	p, err := os.FindProcess(o.process)
	if err != nil {
		return true
	}
	defer func() { _ = p.Release() }()
	err = p.Signal(syscall.Signal(0)) // sends nothing, but fails without a process
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}
