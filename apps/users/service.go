package users

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Config is how a service behaves. The zero value is what it does in production.
type Config struct {
	Now      func() time.Time // nil: time.Now
	Validate int              // times each draft is validated, to measure what that costs; zero: once
	FailOne  int              // one call in so many is refused as unavailable before the store is asked, to see that failures are counted; zero: none
	Limit    int              // requests per second that are let through, all clients together; zero: no limit
}

// Service is the business logic: it validates, asks the repository and turns its
// errors into an [Error]. All methods can be called at once.
type Service struct {
	repository Repository
	now        func() time.Time
	validate   int // times
	failOne    int64
	limit      limiter
	requests   requestIDs

	recorder recorder
	asked    atomic.Int64    // calls, where failOne counts them
	refused  [8]atomic.Int64 // by code, in the order of Codes
	fault    atomic.Pointer[Error]
}

// New is a service over a repository, which it does not close.
func New(c Config, r Repository) *Service {
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // the default of an option
	}
	s := &Service{repository: r, now: c.Now, validate: max(1, c.Validate), failOne: int64(max(0, c.FailOne))}
	s.limit.set(c.Limit, c.Now)
	s.requests.draw()
	return s
}

// Ready is why the store cannot be asked, in words for strangers.
func (s *Service) Ready(ctx context.Context) error {
	if _, err := s.repository.Get(ctx, FirstID); err != nil && !errors.Is(err, ErrNotFound) {
		return errors.New("the store fails")
	}
	return nil
}

// Create keeps a new user.
func (s *Service) Create(ctx context.Context, d Draft) (User, error) {
	d, err := s.draft(d)
	s.recorder.call(create, hash(0).draft(d))
	if err = s.before(err); err != nil {
		return User{}, err
	}
	u, err := s.repository.Create(ctx, d, s.time())
	return s.answer(ctx, u, err)
}

// Get is the user of that id.
func (s *Service) Get(ctx context.Context, id int64) (User, error) {
	s.recorder.call(get, hash(0).number(uint64(id)))
	if err := s.before(nil); err != nil {
		return User{}, err
	}
	u, err := s.repository.Get(ctx, id)
	return s.answer(ctx, u, err)
}

// Update replaces name and e-mail.
func (s *Service) Update(ctx context.Context, id int64, d Draft) (User, error) {
	d, err := s.draft(d)
	s.recorder.call(update, hash(0).number(uint64(id)).draft(d))
	if err = s.before(err); err != nil {
		return User{}, err
	}
	u, err := s.repository.Update(ctx, id, d, s.time())
	return s.answer(ctx, u, err)
}

// Delete forgets the user.
func (s *Service) Delete(ctx context.Context, id int64) error {
	s.recorder.call(remove, hash(0).number(uint64(id)))
	if err := s.before(nil); err != nil {
		return err
	}
	if err := s.repository.Delete(ctx, id); err != nil {
		return s.failed(ctx, err)
	}
	return nil
}

// List is one page.
func (s *Service) List(ctx context.Context, q Query) (Page, error) {
	q = q.Normal()
	s.recorder.call(list, hash(0).text(q.Text).number(uint64(q.Page)).number(uint64(q.Limit)))
	if err := s.before(q.Check()); err != nil {
		return Page{}, err
	}
	found, total, err := s.repository.List(ctx, q.Text, q.offset(), q.Limit)
	if err != nil {
		return Page{}, s.failed(ctx, err)
	}
	if found == nil {
		found = []User{}
	}
	return Page{Users: found, Total: total, Page: q.Page, Limit: q.Limit}, nil
}

// Calls is what has been asked since the last Reset.
func (s *Service) Calls() Calls { return s.recorder.calls() }

// Reset resets the repository to n users and forgets calls and the fault. It is
// not one of the calls. Its error is the repository's own.
func (s *Service) Reset(ctx context.Context, n int) error {
	if err := s.repository.Reset(ctx, n); err != nil {
		return err
	}
	s.recorder.forget()
	s.asked.Store(0)
	s.fault.Store(nil)
	return nil
}

// Fault is what the store failed with first since the last Reset, of which
// clients learn no more than that it did; nil: it has not failed.
func (s *Service) Fault() error {
	if e := s.fault.Load(); e != nil {
		return e.cause
	}
	return nil
}

// time is now, as stores keep it.
func (s *Service) time() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// draft is d as it is kept, or what is wrong with it.
func (s *Service) draft(d Draft) (normal Draft, err error) {
	for range s.validate {
		normal = d.Normal()
		err = normal.Check()
	}
	return normal, err
}

// before is what is refused before the store is asked: what is wrong with the
// call, or a failure that was configured.
func (s *Service) before(err error) error {
	if s.failOne > 0 && s.asked.Add(1)%s.failOne == 0 {
		err = &Error{Code: Unavailable, Message: "the store failed, as configured"}
	}
	if err == nil {
		return nil
	}
	e := RefusalOf(err)
	s.count(e.Code)
	return e
}

func (s *Service) answer(ctx context.Context, u User, err error) (User, error) {
	if err != nil {
		return User{}, s.failed(ctx, err)
	}
	return u, nil
}

// failed is the refusal that stands for an error of the repository. When ctx has
// ended the store may say so in words of its own.
func (s *Service) failed(ctx context.Context, err error) error {
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
	s.count(e.Code)
	return e
}
