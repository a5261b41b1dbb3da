package users

import "iter"

const (
	blockSize = 256 // ids in a block
	rowSize   = 64  // blocks in a row
)

// userIndex finds users by id, and by offset in the order of ids. A position is the id minus FirstID. A block
// has 256 positions, and a row 64 blocks; both count their users. So an offset in 1,000,000 users needs about
// 60 rows, 64 blocks and 256 positions.
//
// The zero value is empty.
type userIndex struct {
	blocks []*block // nil for a block without users
	rows   []int    // number of users in each row
	count  int      // number of all users
}

type block struct {
	users [blockSize]*User // nil for an unused id
	count int
}

func (s *userIndex) userAt(id int64) *User {
	position := id - FirstID
	if position < 0 || position/blockSize >= int64(len(s.blocks)) {
		return nil
	}
	b := s.blocks[position/blockSize]
	if b == nil {
		return nil
	}
	return b.users[position%blockSize]
}

func (s *userIndex) putUser(u *User) {
	position := u.ID - FirstID
	i := int(position / blockSize)
	for i >= len(s.blocks) {
		s.blocks = append(s.blocks, nil)
	}
	for i/rowSize >= len(s.rows) {
		s.rows = append(s.rows, 0)
	}
	b := s.blocks[i]
	if b == nil {
		b = &block{}
		s.blocks[i] = b
	}
	if b.users[position%blockSize] == nil {
		s.addCount(i, 1)
	}
	b.users[position%blockSize] = u
}

// removeID removes the user with an id, which must exist. It also removes an empty block, but not the last one,
// which will get the next users.
func (s *userIndex) removeID(id int64) {
	position := id - FirstID
	i := int(position / blockSize)
	s.blocks[i].users[position%blockSize] = nil
	s.addCount(i, -1)
	isLast := i == len(s.blocks)-1
	if s.blocks[i].count == 0 && !isLast {
		s.blocks[i] = nil
	}
}

func (s *userIndex) addCount(i, n int) {
	s.blocks[i].count += n
	s.rows[i/rowSize] += n
	s.count += n
}

// truncateAt removes the blocks for ids from id on. No user may have such an id.
func (s *userIndex) truncateAt(id int64) {
	blocks := int((id - FirstID + blockSize - 1) / blockSize)
	if blocks < len(s.blocks) {
		clear(s.blocks[blocks:])
		s.blocks = s.blocks[:blocks]
		s.rows = s.rows[:(blocks+rowSize-1)/rowSize]
	}
}

// usersFrom yields users in the order of ids, after offset users.
func (s *userIndex) usersFrom(offset int) iter.Seq[*User] {
	return func(yield func(*User) bool) {
		if offset >= s.count {
			return
		}
		i, skip := s.findOffset(max(0, offset))
		for ; i < len(s.blocks); i++ {
			if s.blocks[i] == nil {
				continue
			}
			for _, u := range s.blocks[i].users {
				switch {
				case u == nil:
					// No user has this id.
				case skip > 0:
					skip--
				case !yield(u):
					return
				}
			}
		}
	}
}

// findOffset returns the index of the block with the user at offset, and the number of users before that user
// in the block. offset must be less than the number of users.
func (s *userIndex) findOffset(offset int) (i, skip int) {
	row := 0
	for offset >= s.rows[row] {
		offset -= s.rows[row]
		row++
	}
	for i = row * rowSize; ; i++ {
		if b := s.blocks[i]; b != nil {
			if offset < b.count {
				return i, offset
			}
			offset -= b.count
		}
	}
}
