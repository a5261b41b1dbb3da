package trial

// Exited is closed when the process has ended, however that came about.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Lost says what ended the trial, nil while it goes on. doing is what was being
// done, for the message. It is for those who wait for a process elsewhere than
// on the wire.
func (p *Process) Lost(doing string) error {
	p.mu.Lock()
	err := p.failure
	p.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case <-p.exited:
		return p.fail(p.exit(doing))
	default:
		return nil
	}
}

// Printed is how many bytes the contender has written to stdout and stderr so
// far, on Linux those included that wait to be read here.
func (p *Process) Printed() int64 {
	const tries = 10
	for range tries {
		read := p.output.total.Load()
		waiting := unread(p.output.stdout.ours) + unread(p.output.stderr.ours)
		if p.output.total.Load() == read {
			return read + waiting
		}
	}
	return p.output.total.Load()
}

// PIDs lists the processes of the trial that are alive now, the first one of
// them included; none once that has ended.
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
	return tree(p.pid)
}
