//go:build windows

package contender

import "syscall"

// cpuNS returns this process's CPU time in ns, user and kernel. It grows in steps of a timer, usually 15.6 ms.
func cpuNS() int64 {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0 // unknown
	}
	var created, exited, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &created, &exited, &kernel, &user); err != nil {
		return 0
	}
	return fromHundredNS(kernel) + fromHundredNS(user)
}

func fromHundredNS(f syscall.Filetime) int64 {
	return (int64(f.HighDateTime)<<32 | int64(f.LowDateTime)) * 100
}
