package users

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Config configures a service. The zero value is that of production.
type Config struct {
	Now      func() time.Time // nil means time.Now
	Validate int              // times each draft is validated, to measure the cost; 0 means once
	FailOne  int              // every n-th call is rejected as unavailable before it reaches the store, to check that failures are counted; 0 means none
	Limit    int              // requests per second of all clients together; 0 means no limit
}

// Service is the business logic: it validates, calls the repository and turns its errors into an
// [Error]. All methods can be called concurrently.
type Service struct {
	repository Repository
	now        func() time.Time
	validate   int // times
	failOne    int64
	limit      limiter
	requests   requestIDs

	recorder recorder
	calls    atomic.Int64    // number of calls, if failOne is set
	refused  [8]atomic.Int64 // by code, in the order of Codes
	fault    atomic.Pointer[Error]
}

// New returns a service over a repository, which it does not close.
func New(c Config, r Repository) *Service {
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // the default of an option
	}
	s := &Service{repository: r, now: c.Now, validate: max(1, c.Validate), failOne: int64(max(0, c.FailOne))}
	s.limit.setLimit(c.Limit, c.Now)
	s.requests.drawPrefix()
	return s
}

// Ready returns an error if the store fails, without internal details.
func (s *Service) Ready(ctx context.Context) error {
	if _, err := s.repository.Get(ctx, FirstID); err != nil && !errors.Is(err, ErrNotFound) {
		return errors.New("the store fails")
	}
	return nil
}

// Create stores a new user.
func (s *Service) Create(ctx context.Context, d Draft) (User, error) {
	d, err := s.checkDraft(d)
	s.recorder.addCall(methodCreate, hash(0).addDraft(d))
	if err = s.checkCall(err); err != nil {
		return User{}, err
	}
	u, err := s.repository.Create(ctx, d, s.timeNow())
	return s.userOrError(ctx, u, err)
}

// Get returns the user of that id.
func (s *Service) Get(ctx context.Context, id int64) (User, error) {
	s.recorder.addCall(methodGet, hash(0).addNumber(uint64(id)))
	if err := s.checkCall(nil); err != nil {
		return User{}, err
	}
	u, err := s.repository.Get(ctx, id)
	return s.userOrError(ctx, u, err)
}

// Update replaces name and e-mail.
func (s *Service) Update(ctx context.Context, id int64, d Draft) (User, error) {
	d, err := s.checkDraft(d)
	s.recorder.addCall(methodUpdate, hash(0).addNumber(uint64(id)).addDraft(d))
	if err = s.checkCall(err); err != nil {
		return User{}, err
	}
	u, err := s.repository.Update(ctx, id, d, s.timeNow())
	return s.userOrError(ctx, u, err)
}

// Delete removes the user.
func (s *Service) Delete(ctx context.Context, id int64) error {
	s.recorder.addCall(methodDelete, hash(0).addNumber(uint64(id)))
	if err := s.checkCall(nil); err != nil {
		return err
	}
	if err := s.repository.Delete(ctx, id); err != nil {
		return s.storeError(ctx, err)
	}
	return nil
}

// List returns one page.
func (s *Service) List(ctx context.Context, q Query) (Page, error) {
	q = q.Normal()
	s.recorder.addCall(methodList, hash(0).addText(q.Text).addNumber(uint64(q.Page)).addNumber(uint64(q.Limit)))
	if err := s.checkCall(q.Check()); err != nil {
		return Page{}, err
	}
	found, total, err := s.repository.List(ctx, q.Text, q.pageOffset(), q.Limit)
	if err != nil {
		return Page{}, s.storeError(ctx, err)
	}
	if found == nil {
		found = []User{}
	}
	return Page{Users: found, Total: total, Page: q.Page, Limit: q.Limit}, nil
}

// Calls returns the calls since the last Reset.
func (s *Service) Calls() Calls { return s.recorder.loadCalls() }

// Reset resets the repository to n users and clears calls and the fault. It is not one of the
// calls. Its error is the repository's own.
func (s *Service) Reset(ctx context.Context, n int) error {
	if err := s.repository.Reset(ctx, n); err != nil {
		return err
	}
	s.recorder.resetCalls()
	s.calls.Store(0)
	s.fault.Store(nil)
	return nil
}

// Fault returns the first error of the store since the last Reset, which clients only see as
// unavailable; nil if there was none.
func (s *Service) Fault() error {
	if e := s.fault.Load(); e != nil {
		return e.cause
	}
	return nil
}

// timeNow returns the time in the precision of stores.
func (s *Service) timeNow() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// checkDraft returns d as it is stored, or what is wrong with it.
func (s *Service) checkDraft(d Draft) (normal Draft, err error) {
	for range s.validate {
		normal = d.Normal()
		err = normal.Check()
	}
	return normal, err
}

// checkCall returns the error of a call before it reaches the store: the fault of the call, or a
// failure that was configured.
func (s *Service) checkCall(err error) error {
	if s.failOne > 0 && s.calls.Add(1)%s.failOne == 0 {
		err = &Error{Code: Unavailable, Message: "the store failed, as configured"}
	}
	if err == nil {
		return nil
	}
	e := RefusalOf(err)
	s.countRefusal(e.Code)
	return e
}

func (s *Service) userOrError(ctx context.Context, u User, err error) (User, error) {
	if err != nil {
		return User{}, s.storeError(ctx, err)
	}
	return u, nil
}

// storeError returns the error response for an error of the repository. When ctx has ended the
// store may have an error of its own for that.
func (s *Service) storeError(ctx context.Context, err error) error {
	var e *Error
	switch {
	case errors.Is(err, ErrNotFound) || errors.Is(err, ErrEmailTaken):
		e = RefusalOf(err)
	case ctx.Err() != nil:
		e = RefusalOf(ctx.Err())
	default:
		e = &Error{Code: Unavailable, Message: "the store failed", cause: err}
		s.fault.CompareAndSwap(nil, e)
	}
	s.countRefusal(e.Code)
	return e
}
