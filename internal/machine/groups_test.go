package machine

import "testing"

func TestParseGroups(t *testing.T) {
	for _, c := range []struct {
		name, member, mounts string
		unified, cpu         string // directories
	}{
		{
			name:    "version 2 on a desktop",
			member:  "0::/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope\n",
			mounts:  "26 24 0:22 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
			unified: "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope",
		},
		{
			name:   "hybrid",
			member: "5:cpu,cpuacct:/jobs\n1:name=systemd:/x\n0::/y\n",
			mounts: "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n" +
				"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:3 - cgroup cgroup rw,cpu,cpuacct\n" +
				"35 31 0:32 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n" +
				"40 31 0:37 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			unified: "/sys/fs/cgroup/unified/y",
			cpu:     "/sys/fs/cgroup/cpu,cpuacct/jobs",
		},
		{
			name:    "a container that sees a part of the tree",
			member:  "0::/docker/abc/sub\n",
			mounts:  "600 599 0:26 /docker/abc /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n",
			unified: "/sys/fs/cgroup/sub",
		},
		{
			name:   "a part of the tree that we are not in",
			member: "0::/other\n2:cpu:/\n",
			mounts: "600 599 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n" +
				"601 599 0:27 / /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n",
			cpu: "/sys/fs/cgroup/cpu",
		},
		{
			name:    "a mount point with a space",
			member:  "0::/\n",
			mounts:  "26 24 0:22 / /mnt/my\\040groups rw - cgroup2 none rw\n",
			unified: "/mnt/my groups",
		},
		{name: "none", member: "", mounts: "26 24 0:22 / / rw - ext4 /dev/vda rw\nnonsense\n"},
	} {
		g, err := parseGroups(c.member, c.mounts)
		if g.unified.dir != c.unified || g.cpu.dir != c.cpu {
			t.Errorf("%s: version 2 %q, cpu %q; want %q, %q", c.name, g.unified.dir, g.cpu.dir, c.unified, c.cpu)
		}
		if (err != nil) != (c.unified == "" && c.cpu == "") {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
}
