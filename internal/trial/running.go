package trial

// This file answers questions about a running contender, a measured program.

// Exited returns a channel that is closed at the end of the process.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Lost returns the error that ended the trial, or nil while it runs. doing is the activity of the
// process, for the message.
func (p *Process) Lost(doing string) error {
	p.mu.Lock()
	err := p.failure
	p.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case <-p.exited:
		return p.failWith(p.exitError(doing))
	default:
		return nil
	}
}

// Printed returns the number of bytes that the contender has written to stdout and stderr so far. On
// Linux it includes bytes that are still unread.
func (p *Process) Printed() int64 {
	const attempts = 10 // the sum is only right if no bytes are read while the unread ones are counted
	for range attempts {
		read := p.output.total.Load()
		unread := countUnread(p.output.stdout.ours) + countUnread(p.output.stderr.ours)
		if p.output.total.Load() == read {
			return read + unread
		}
	}
	return p.output.total.Load()
}

// PIDs lists the living processes of the trial. It returns nil when the contender itself has ended.
func (p *Process) PIDs() []int {
	select {
	case <-p.exited:
		return nil
	default:
	}
	if p.group != nil {
		if pids, err := p.group.Procs(); err == nil && len(pids) > 0 {
			return pids
		}
	}
	return listTree(p.pid)
}
