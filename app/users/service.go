package users

import (
	"context"
	"time"
)

// Config is how a service behaves. The zero value is what it does in production.
type Config struct {
	Now      func() time.Time // nil: time.Now
	Validate int              // times each draft is validated, to weigh what that costs; zero: once
	FailOne  int              // one call in so many is refused as unavailable before the store is asked, to see that failures are counted; zero: none
	Limit    int              // requests per second that are let through, all clients together; zero: no limit
}

// Service is the business logic: it validates, asks the repository and turns its
// errors into an [Error]. All methods can be called at once.
type Service struct{ _ int }

// New is a service over a repository, which it does not close.
func New(c Config, r Repository) *Service { panic("unwritten") }

// Create keeps a new user.
func (s *Service) Create(ctx context.Context, d Draft) (User, error) { panic("unwritten") }

// Get is the user of that id.
func (s *Service) Get(ctx context.Context, id int64) (User, error) { panic("unwritten") }

// Update replaces name and e-mail.
func (s *Service) Update(ctx context.Context, id int64, d Draft) (User, error) { panic("unwritten") }

// Delete forgets the user.
func (s *Service) Delete(ctx context.Context, id int64) error { panic("unwritten") }

// List is one page.
func (s *Service) List(ctx context.Context, q Query) (Page, error) { panic("unwritten") }

// Allow takes one request off the rate limit; false: the answer is [Limited].
func (s *Service) Allow() bool { panic("unwritten") }

// Limited reports whether there is a rate limit.
func (s *Service) Limited() bool { panic("unwritten") }

// Calls is what has been asked since the last Reset.
func (s *Service) Calls() Calls { panic("unwritten") }

// Calls are use-case calls, in no order.
type Calls struct {
	Create, Get, Update, Delete, List int64
	// Sum adds up a hash of each call with its arguments, after they were
	// trimmed and bounded: two faces that were asked the same have the same sum.
	Sum uint64
}
