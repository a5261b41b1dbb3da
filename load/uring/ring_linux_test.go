//go:build linux && (amd64 || arm64)

package uring

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/tarebench/tare/internal/assert"
)

// opened is a ring for a test, which keeps its thread.
func opened(t *testing.T, requests, buffers, size int) *Ring {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	r, err := Open(requests, 64)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(r.Close)
	_, err = r.Buffers(buffers, size)
	assert.NoError(t, "buffers", err)
	return r
}

func pair(t *testing.T) (a, b int) {
	t.Helper()
	p, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	assert.NoError(t, "socketpair", err)
	t.Cleanup(func() { syscall.Close(p[0]); syscall.Close(p[1]) })
	return p[0], p[1]
}

// completions waits for n and takes them.
func completions(t *testing.T, r *Ring, n int) (out []Completion) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); len(out) < n; {
		if time.Now().After(end) {
			t.Fatalf("%d completions of %d: %v", len(out), n, out)
		}
		r.Wait(100 * time.Millisecond)
		ready := r.Ready()
		for i := range ready {
			out = append(out, *r.At(i))
		}
		r.Take(ready)
	}
	return out
}

var want = []byte("twenty bytes, in turn")[:20]

func TestSendAndReceive(t *testing.T) {
	r := opened(t, 4, 4, 64)
	a, b := pair(t)
	r.Receive(b, 7)
	for i := range want { // more than the ring holds
		r.Send(a, want[i:i+1], uint64(100+i))
	}
	var got []byte
	sent := 0
	for sent < 20 || len(got) < 20 {
		for _, c := range completions(t, r, 1) {
			id, buffered := c.Buffer()
			switch {
			case c.Data >= 100:
				assert.Equal(t, "sent", c.Res, 1)
				sent++
			case c.Res > 0 && buffered:
				got = append(got, r.buffers.Bytes(id, int(c.Res))...)
				r.buffers.Return(id)
			case c.Res != -int32(syscall.ENOBUFS):
				t.Fatalf("completion %+v", c)
			}
			if c.Data == 7 && !c.More() {
				r.Receive(b, 7)
			}
		}
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// What is received is in as many buffers as it takes; without one left receiving
// ends, and goes on when it is begun again.
func TestBuffersRunOut(t *testing.T) {
	r := opened(t, 8, 2, 16)
	a, b := pair(t)
	text := []byte("forty bytes that go into three buffers..")
	_, err := syscall.Write(a, text)
	assert.NoError(t, "write", err)
	r.Receive(b, 1)
	var got []byte
	var ids []int
	for out := completions(t, r, 3); len(out) > 0; out = out[1:] {
		c := out[0]
		if id, ok := c.Buffer(); ok {
			got, ids = append(got, r.buffers.Bytes(id, int(c.Res))...), append(ids, id)
			continue
		}
		assert.Equal(t, "the third", syscall.Errno(-c.Res), syscall.ENOBUFS)
		assert.Equal(t, "more", c.More(), false)
	}
	for _, id := range ids {
		r.buffers.Return(id)
	}
	r.Receive(b, 1)
	c := completions(t, r, 1)[0]
	id, _ := c.Buffer()
	got = append(got, r.buffers.Bytes(id, int(c.Res))...)
	assert.Equal(t, "all", string(got), string(text))
}

// A descriptor that is shut is closed at once for the other side, and what was
// under way has its completion.
func TestShut(t *testing.T) {
	r := opened(t, 8, 2, 16)
	p, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	assert.NoError(t, "socketpair", err)
	defer syscall.Close(p[1])
	r.Receive(p[0], 1)
	r.Wait(0)
	r.Shut(p[0], 2)
	c := completions(t, r, 1)[0]
	assert.Equal(t, "data", c.Data, 1)
	assert.Equal(t, "result", syscall.Errno(-c.Res), syscall.ECANCELED)
	n, err := syscall.Read(p[1], make([]byte, 1))
	if n != 0 || err != nil {
		t.Errorf("the other side reads %d, %v", n, err)
	}
}

func TestWaitEnds(t *testing.T) {
	r := opened(t, 8, 2, 16)
	began := time.Now()
	r.Wait(20 * time.Millisecond)
	if took := time.Since(began); took < 20*time.Millisecond {
		t.Errorf("waited for %v", took)
	}
	assert.Equal(t, "completions", r.Ready(), 0)
	a, b := pair(t)
	r.PollIn(b, 5)
	r.PollOut(b, 6)
	assert.Equal(t, "writable", completions(t, r, 1)[0].Data, 6)
	for range 2 {
		_, _ = syscall.Write(a, []byte("x"))
		c := completions(t, r, 1)[0]
		if c.Data != 5 || !c.More() {
			t.Errorf("completion %+v", c)
		}
	}
}

// A system that refuses io_uring, as containers do, is named.
func TestRefused(t *testing.T) {
	got := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its filter
		if err := forbid(sysSetup); err != nil {
			got <- err
			return
		}
		r, err := Open(8, 8)
		if err == nil {
			r.Close()
		}
		got <- err
	}()
	err := <-got
	if !errors.Is(err, syscall.EPERM) || !strings.Contains(err.Error(), "io_uring_setup: operation not permitted: ") {
		t.Errorf("%v", err)
	}
	if !strings.Contains(refused(syscall.ENOSYS).Error(), "it needs Linux 6.1") {
		t.Error("an old kernel is not named")
	}
}

// forbid has the kernel refuse the calling thread a system call.
func forbid(call uint32) error {
	type step struct {
		code   uint16
		jt, jf uint8
		k      uint32
	}
	program := []step{
		{0x20, 0, 0, 0},    // load the call's number
		{0x15, 0, 1, call}, // is it this one?
		{0x06, 0, 0, 0x00050000 | uint32(syscall.EPERM)}, // refuse it
		{0x06, 0, 0, 0x7fff0000},                         // allow the others
	}
	filter := struct {
		n     uint16
		steps *step
	}{uint16(len(program)), &program[0]}
	const noNewPrivs, setSeccomp, modeFilter = 38, 22, 2
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, noNewPrivs, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setSeccomp, modeFilter, uintptr(unsafe.Pointer(&filter))); errno != 0 {
		return errno
	}
	return nil
}
