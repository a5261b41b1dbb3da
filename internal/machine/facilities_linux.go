package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// This file finds out which features of Linux measurements can use, and the state of the machine.
// For example: control groups can be made, and the machine runs on its battery.

// facilityProbes returns a probe for each facility, a feature of the system that matters to
// measurements. A probe returns whether the system has the feature, and a note. Results list the
// facilities in this order.
func facilityProbes() []probe {
	return []probe{
		{ChildGroup, probeGroup},
		{KillGroup, func() (bool, string) {
			return tryInGroup(func(c *Cgroup) (bool, string) {
				if c.canKillGroup() {
					return true, ""
				}
				return false, "kernel before 5.14; processes are ended one by one"
			})
		}},
		{MemoryController, func() (bool, string) {
			const instead = "resident memory is polled instead"
			found, note := tryInGroup(func(c *Cgroup) (bool, string) { return c.MemoryMax(1<<30) == nil, instead })
			if found {
				return true, "the kernel enforces the memory limit"
			}
			return false, instead + strings.TrimPrefix(" ("+note+")", " ("+instead+")")
		}},
		{CPUPressure, func() (bool, string) {
			if cpuPressure("/proc/pressure/cpu") < 0 {
				return false, "no /proc/pressure/cpu; other load goes unseen"
			}
			return true, ""
		}},
		{RunQueue, func() (bool, string) {
			_, ok := RunQueueWait(os.Getpid())
			return ok, ""
		}},
		{Throttling, func() (bool, string) {
			if len(readThrottled()) == 0 {
				return false, "no control group keeps it"
			}
			return true, ""
		}},
		{HardwareCounters, probeCounters},
		{Affinity, func() (bool, string) {
			cpus, err := allowedCPUs()
			if err != nil {
				return false, err.Error()
			}
			return true, "processors " + formatRanges(cpus)
		}},
		{TaggedProcesses, func() (bool, string) {
			_, err := os.ReadFile("/proc/self/environ")
			return err == nil, ""
		}},
		{Governor, func() (bool, string) {
			g := firstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
			if g == "" {
				return false, "not told"
			}
			return true, g
		}},
		{Turbo, probeTurbo},
		{PowerSupply, func() (bool, string) { return probePower("/sys/class/power_supply") }},
		{CoreKinds, func() (bool, string) { return probeCores("/sys/devices/system/cpu") }},
		{Siblings, func() (bool, string) {
			switch firstLine("/sys/devices/system/cpu/smt/active") {
			case "1":
				return true, "on"
			case "0":
				return true, "off"
			}
			return false, "not told"
		}},
		{VirtualMachine, probeVirtual},
		{Clock, probeClock},
	}
}

func probeGroup() (found bool, note string) {
	return tryInGroup(func(c *Cgroup) (bool, string) { return true, filepath.Dir(c.dir) })
}

// tryInGroup calls probe with a new control group and returns its result. If the group cannot be made
// or removed, found is false and the note has the reason.
func tryInGroup(probe func(*Cgroup) (bool, string)) (found bool, note string) {
	c, err := NewCgroup(fmt.Sprintf("tare-probe-%d-%d", os.Getpid(), time.Now().UnixNano()))
	if err != nil {
		return false, strings.TrimPrefix(err.Error(), "control group: ")
	}
	found, note = probe(c)
	if err := c.Remove(); err != nil {
		return false, err.Error()
	}
	return found, note
}

func (c *Cgroup) canKillGroup() bool {
	_, err := os.Stat(filepath.Join(c.dir, killFile))
	return err == nil
}

func probeCounters() (found bool, note string) {
	if err := checkCounter(cyclesEvent); err != nil {
		return false, err.Error()
	}
	return true, ""
}

// probeTurbo reads whether the processor may exceed its base frequency.
func probeTurbo() (found bool, note string) {
	if v := firstLine("/sys/devices/system/cpu/intel_pstate/no_turbo"); v != "" {
		return true, map[string]string{"0": "on", "1": "off"}[v]
	}
	if v := firstLine("/sys/devices/system/cpu/cpufreq/boost"); v != "" {
		return true, map[string]string{"1": "on", "0": "off"}[v]
	}
	return false, "not told"
}

// probePower returns the power source of the machine, from the power supplies in dir.
func probePower(dir string) (found bool, note string) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, pathErrorCause(err).Error()
	}
	mainsOnline, onBattery := "", false // mainsOnline is "1" if connected, "0" if not, "" without mains
	for _, e := range entries {
		supply := filepath.Join(dir, e.Name())
		switch firstLine(filepath.Join(supply, "type")) {
		case "Mains":
			if mainsOnline != "1" {
				mainsOnline = firstLine(filepath.Join(supply, "online"))
			}
		case "Battery":
			onBattery = onBattery || firstLine(filepath.Join(supply, "status")) == "Discharging"
		}
	}
	switch {
	case onBattery || mainsOnline == "0":
		return true, "battery"
	case mainsOnline == "1":
		return true, "mains"
	}
	return false, "none to ask, as in servers and virtual machines"
}

// probeCores counts the kinds of processors. Processors of one kind have the same capacity and maximum
// frequency.
func probeCores(dir string) (found bool, note string) {
	kinds := map[string]bool{} // capacity/frequency
	for i := 0; ; i++ {
		cpu := filepath.Join(dir, "cpu"+strconv.Itoa(i))
		if _, err := os.Stat(cpu); err != nil {
			break
		}
		kinds[firstLine(filepath.Join(cpu, "cpu_capacity"))+"/"+firstLine(filepath.Join(cpu, "cpufreq/cpuinfo_max_freq"))] = true
	}
	allUnknown := len(kinds) == 1 && kinds["/"]
	switch {
	case len(kinds) == 0 || allUnknown:
		return false, "not told"
	case len(kinds) == 1:
		return true, "one"
	}
	return true, fmt.Sprintf("%d; a result depends on which of them ran what", len(kinds))
}

// probeVirtual reports whether this is a virtual machine: hypervisors set a flag of the processor.
func probeVirtual() (found bool, note string) {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return false, pathErrorCause(err).Error()
	}
	for line := range strings.Lines(string(b)) {
		if name, flags, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "flags" {
			for f := range strings.FieldsSeq(flags) {
				if f == "hypervisor" {
					return true, "yes; its neighbours go unseen"
				}
			}
			return true, "no"
		}
	}
	if firstLine("/sys/hypervisor/type") != "" {
		return true, "yes; its neighbours go unseen"
	}
	return false, "not told"
}

// probeClock measures the smallest step of time.Now.
func probeClock() (found bool, note string) {
	step := time.Hour
	for range 1000 {
		start := time.Now()
		for {
			if d := time.Since(start); d > 0 {
				step = min(step, d)
				break
			}
		}
	}
	source := firstLine("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	if source == "" {
		return true, fmt.Sprintf("steps of %v", step)
	}
	return true, fmt.Sprintf("%s, steps of %v", source, step)
}
