package users

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Config configures a service. The zero value is meant for production.
type Config struct {
	Now      func() time.Time // clock; nil means time.Now
	Validate int              // how often a draft is validated, to measure that; 0 means once
	FailOne  int              // every n-th call fails as unavailable, to test that failures are counted; 0 means none
	Limit    int              // requests per second of all clients together; 0 means no limit
}

// Service is the business logic: it validates arguments, calls the repository and turns its errors into an
// [Error]. All methods can be called concurrently.
type Service struct {
	repository Repository
	now        func() time.Time
	validate   int
	failOne    int64
	limit      limiter
	requests   requestIDs

	recorder recorder
	calls    atomic.Int64          // counts calls if failOne is set
	refused  [8]atomic.Int64       // same order as Codes
	fault    atomic.Pointer[Error] // first error of the store
}

// New returns a service that stores users in r. The caller must close r.
func New(c Config, r Repository) *Service {
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // the default of an option
	}
	s := &Service{repository: r, now: c.Now, validate: max(1, c.Validate), failOne: int64(max(0, c.FailOne))}
	s.limit.setLimit(c.Limit, c.Now)
	s.requests.drawPrefix()
	return s
}

// Ready returns nil if the store works. The error has no internal details.
func (s *Service) Ready(ctx context.Context) error {
	if _, err := s.repository.Get(ctx, FirstID); err != nil && !errors.Is(err, ErrNotFound) {
		return errors.New("the store fails")
	}
	return nil
}

// Create stores a new user and returns it.
func (s *Service) Create(ctx context.Context, d Draft) (User, error) {
	d, err := s.checkDraft(d)
	s.recorder.addCall(methodCreate, hash(0).addDraft(d))
	if err = s.checkCall(err); err != nil {
		return User{}, err
	}
	u, err := s.repository.Create(ctx, d, s.timeNow())
	return s.userOrError(ctx, u, err)
}

// Get returns the user with an id.
func (s *Service) Get(ctx context.Context, id int64) (User, error) {
	s.recorder.addCall(methodGet, hash(0).addNumber(uint64(id)))
	if err := s.checkCall(nil); err != nil {
		return User{}, err
	}
	u, err := s.repository.Get(ctx, id)
	return s.userOrError(ctx, u, err)
}

// Update replaces a user's name and e-mail, and returns the user.
func (s *Service) Update(ctx context.Context, id int64, d Draft) (User, error) {
	d, err := s.checkDraft(d)
	s.recorder.addCall(methodUpdate, hash(0).addNumber(uint64(id)).addDraft(d))
	if err = s.checkCall(err); err != nil {
		return User{}, err
	}
	u, err := s.repository.Update(ctx, id, d, s.timeNow())
	return s.userOrError(ctx, u, err)
}

// Delete removes the user with an id.
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

// List returns one page of the users that match a query.
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

// Calls returns the numbers of calls since the last Reset.
func (s *Service) Calls() Calls { return s.recorder.loadCalls() }

// Reset resets the repository to n users, sets the counts of calls to zero and clears the fault. It does not
// count as a call.
func (s *Service) Reset(ctx context.Context, n int) error {
	if err := s.repository.Reset(ctx, n); err != nil {
		return err
	}
	s.recorder.resetCalls()
	s.calls.Store(0)
	s.fault.Store(nil)
	return nil
}

// Fault returns the first error of the store since the last Reset, or nil. Clients only get the code
// unavailable for it.
func (s *Service) Fault() error {
	if e := s.fault.Load(); e != nil {
		return e.cause
	}
	return nil
}

// timeNow returns the time in microseconds, the precision of all stores.
func (s *Service) timeNow() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// checkDraft returns d as it is stored. The error is an [*Error].
func (s *Service) checkDraft(d Draft) (normal Draft, err error) {
	for range s.validate {
		normal = d.Normal()
		err = normal.Check()
	}
	return normal, err
}

// checkCall returns and counts the error of a call that must not reach the store: err, or the failure that
// Config.FailOne requires. It returns nil if the call may continue.
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

// storeError returns the error response for an error of the repository, and counts it.
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
