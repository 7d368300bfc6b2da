// Limits for hostile scripts: real builds in real sandboxes, each of which reaches a limit.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { loadConfig } from '../../src/config.js'
import { ifAlive } from '../../src/lib/process-status.js'
import { executeBuild, type RunnerPort, type RunnerResult } from '../../src/runner/execute.js'
import { makeWorkFolder } from '../../src/runner/folders.js'
import { confinedMembers, isStopped, markedMembers } from '../../src/runner/members.js'
import { hiddenFiles, memoryAtMost, usedMemory } from '../../src/runner/memory.js'
import { seccompFilter } from '../../src/runner/seccomp.js'
import { nap, processesWith, sleeperOf } from '../helpers/naps.js'
import { until } from '../helpers/until.js'

const home = t.testdir({ tmp: {} })
const MIB = 1_048_576
const SMALL = 96 * MIB
const settings = (runner: object = {}) => loadConfig({ home, runner: { memory_limit: SMALL, ...runner } })

interface Ended {
  readonly result: RunnerResult
  readonly trace: string
  readonly work: string
}

async function build(script: string[], port: Partial<RunnerPort> = {}, timeout = 120): Promise<Ended> {
  const work = await makeWorkFolder()
  let trace = ''
  const result = await executeBuild(
    { id: 1, timeout, variables: [], script, afterScript: [], artifacts: null, secrets: [] },
    {
      workFolder: work,
      getSources: async () => undefined,
      dependencies: [],
      writeTrace: async chunk => {
        trace += chunk.toString('latin1')
      },
      putArtifacts: async () => undefined,
      putVariables: async () => undefined,
      signal: new AbortController().signal,
      ...port
    }
  )
  return { result, trace, work }
}

/** A line of Perl that calls the kernel by the numbers of x86-64 and arm64. */
const perl = (code: string) => `perl -e 'use strict; my $arm = \`uname -m\` =~ /aarch64/; ${code}'`
const IS_LINUX_64 = ['x64', 'arm64'].includes(process.arch)
const MMAP = '($arm ? 222 : 9)'

/** Maps and touches shared memory in steps of 8 MiB, and sleeps when it has `size` MiB. */
const shareMemory = (size: number, then = '') =>
  perl(
    `for (my $i = 0; $i < ${size}; $i += 8) { my $at = syscall(${MMAP}, 0, 8 << 20, 3, 0x21, -1, 0); die "mmap" if $at == -1; ` +
      `open(my $zero, "<", "/dev/zero"); syscall(($arm ? 63 : 0), fileno($zero), $at, 8 << 20); ${then} } sleep ${nap(1)}`
  )

t.test('memory', async t => {
  settings()

  for (const [what, script] of [
    [
      'many processes, each below the limit',
      [`for i in 1 2 3; do perl -e '$x = "a" x 40_000_000; sleep ${nap(1)}' & done; wait`]
    ],
    ['memory that processes share', [shareMemory(256)]],
    [
      'shared memory that no process has in its page tables any more',
      [shareMemory(256, 'syscall(($arm ? 233 : 28), $at, 8 << 20, 4);')]
    ],
    [
      'a file that only a descriptor holds',
      [
        perl(
          `my $fd = syscall(($arm ? 279 : 319), my $name = "x", 0); open(my $file, ">&=", $fd) or die; ` +
            `for (1 .. 32) { syswrite($file, "a" x (8 << 20)) } sleep ${nap(1)}`
        )
      ]
    ],
    [
      'a process whose first thread has ended',
      [
        perl(
          `use threads; threads->create(sub { sleep 1; for (1 .. 32) { my $at = syscall(${MMAP}, 0, 8 << 20, 3, 0x21, -1, 0); ` +
            `open(my $zero, "<", "/dev/zero"); syscall(($arm ? 63 : 0), fileno($zero), $at, 8 << 20) } sleep ${nap(1)} }); ` +
            'syscall($arm ? 93 : 60, 0)'
        )
      ]
    ],
    [
      'the page tables of the kernel',
      [
        perl(
          `for (1 .. 40_000) { my $at = syscall(${MMAP}, 0, 2 << 20, 1, 0x4022, -1, 0); die "mmap" if $at == -1; ` +
            `syscall(($arm ? 233 : 28), $at, 2 << 20, 15); unpack("P1", pack("Q", $at)) } sleep ${nap(1)}`
        )
      ]
    ],
    [
      'files in /tmp and /dev/shm',
      [`head -c 60000000 /dev/zero >/tmp/x; head -c 60000000 /dev/zero >/dev/shm/x; sleep ${nap(1)}`]
    ]
  ] as [string, string[]][]) {
    // Only root may look at shared memory that is in no page table.
    const skip = what.includes('page tables') && process.getuid?.() !== 0
    if (skip) continue
    t.test(`the limit of the whole build counts ${what}`, async t => {
      const { result, trace } = await build(script)
      t.strictSame(result, { status: 'failed', reason: 'memory_limit' }, trace)
      t.match(
        trace,
        `ERROR: the processes of the build use more than ${SMALL} bytes of memory together; the build stops\n`
      )
      t.match(trace, 'Build failed: memory limit\n')
      t.strictSame(processesWith(nap(1)), [])
    })
  }

  t.test('pages that processes share count once', async t => {
    const script = `perl -e '$x = "a" x 25_000_000; for (1 .. 6) { exec "sleep 2" unless fork; } for (1 .. 6) { unless (fork) { sleep 2; exit } } sleep 2'`
    const { result, trace } = await build([script])
    t.equal(result.status, 'success', trace)
  })

  const python = existsSync('/usr/bin/python3')
  t.test(
    'a process that still has the memory of its parent does not count',
    { skip: !python && 'no Python' },
    async t => {
      // subprocess starts programs with vfork, and searches all these folders before the child has its own memory.
      const script = `python3 -c 'import subprocess, time
    x = bytearray(60_000_000)
    end = time.time() + 4
    while time.time() < end: subprocess.run(["true"], env={"PATH": "/x:" * 30_000 + "/usr/bin"})'`
      const { result, trace } = await build([script.replace(/\n +/g, '\n')])
      t.equal(result.status, 'success', trace)
    }
  )

  t.test('the limit also holds without a sandbox', async t => {
    settings({ sandbox: 'none' })
    const { result } = await build([shareMemory(256)])
    settings()
    t.strictSame(result, { status: 'failed', reason: 'memory_limit' })
    t.strictSame(processesWith(nap(1)), [])
  })

  t.test('ended processes use no memory', async t => {
    const members = markedMembers('GITSTEAD_BUILD_MARK=of nobody')
    t.equal(await usedMemory(members, 0), 0)
    t.equal(await memoryAtMost(members, 0), 0)
    t.strictSame(await hiddenFiles(members, 0), { memory: 0, disk: 0 })
  })

  t.test('the appliance has priority for the processor over builds', async t => {
    const { trace } = await build(['echo "it has $(nice)"'])
    t.match(trace, '\nit has 5\n')
  })

  t.test('processes neither run nor fork while they are counted, and continue afterwards', async t => {
    const cancel = new AbortController()
    // One process below another, one whose parent has ended, and one that the script itself stops.
    const script = [
      `bash -c 'sleep ${nap(5)} & wait' & (setsid bash -c 'while true; do sleep 0.01; done' &)`,
      `bash -c 'kill -STOP $$' & wait`
    ]
    const ended = build(script, { signal: cancel.signal })
    const sleeper = await sleeperOf(5)
    const first = firstOf(sleeper)
    const members = confinedMembers(first)
    await until('all of them run', () => processesBelow(first).length >= 6 && stoppedOf(first).length === 1)
    const own = stoppedOf(first)
    const thaw = await members.freeze()
    const all = processesBelow(first)
    await until('none of them runs', () => all.every(pid => isStopped(pid) || isZombie(pid)))
    t.strictSame(processesBelow(first), all, 'no other process began')
    t.equal(isStopped(first), false, 'the first process continues')
    thaw()
    await until('the processes of the script continue', () => JSON.stringify(stoppedOf(first)) === JSON.stringify(own))
    cancel.abort()
    await ended
  })

  t.test('the kernel ends a build first, even when the build tries to prevent that', async t => {
    const cancel = new AbortController()
    const ended = build([`echo 0 >/proc/self/oom_score_adj; sleep ${nap(2)}`], { signal: cancel.signal })
    const sleeper = await sleeperOf(2)
    while (readFileSync(`/proc/${sleeper}/oom_score_adj`, 'utf8') !== '1000\n') await delay(20)
    cancel.abort()
    await ended
    t.pass('it is 1000')
  })
})

t.test('disk', async t => {
  settings({ disk_limit: 32 * MIB, memory_limit: 1024 * MIB })

  for (const [what, script] of [
    ['one large file', `head -c 64000000 /dev/zero >x; sleep ${nap(3)}`],
    ['files in two folders', `head -c 20000000 /dev/zero >x; head -c 20000000 /dev/zero >~/x; sleep ${nap(3)}`],
    ['many empty files', `perl -e 'open(F, ">", $_) for 1 .. 20_000'; sleep ${nap(3)}`],
    ['a removed file that is still open', `exec 7>x; rm x; head -c 64000000 /dev/zero >&7; sleep ${nap(3)}`]
  ] as const) {
    t.test(`the limit counts ${what}`, async t => {
      const { result, trace, work } = await build([script])
      t.strictSame(result, { status: 'failed', reason: 'disk_limit' }, trace)
      t.match(trace, 'ERROR: the files of the build take more than 33554432 bytes of the disk; the build stops\n')
      t.strictSame(processesWith(nap(3)), [])
      t.notOk(existsSync(work))
    })
  }

  t.test('a file with many names counts once', async t => {
    const { result, trace } = await build(['head -c 20000000 /dev/zero >a; ln a b; ln a c; sleep 2'])
    t.equal(result.status, 'success', trace)
  })

  // Ten entries in each level: the checkout of ten levels would make 10^10 files of eleven objects.
  const checkout = (levels: number) => [
    'git init --quiet .; git config user.name a; git config user.email a@b.c',
    'id=$(echo x | git hash-object -w --stdin); mode="100644 blob"',
    `for level in {1..${levels}}; do id=$(for n in {0..9}; do printf "%s %s\\t%s\\n" "$mode" $id $n; done | git mktree); mode="040000 tree"; done`,
    'git checkout --quiet --force --detach $(git commit-tree -m bomb $id)'
  ]

  for (const [levels, reason] of [
    [5, 'disk_limit'],
    // Git collects all names before it begins to write, and runs out of memory.
    [10, 'runner_system_failure']
  ] as const) {
    t.test(`a tree of ${levels} levels that describes too many files ends its build`, async t => {
      settings({ disk_limit: 32 * MIB })
      const { result, trace, work } = await build(['echo ran'], {
        getSources: async ({ run }) => {
          if ((await run(checkout(levels))) !== 0) throw new Error('it ended')
        }
      })
      t.match(result, { status: 'failed', reason }, trace)
      t.notMatch(trace, 'ran\n')
      t.notOk(existsSync(work))
    })
  }
})

t.test('the sources', async t => {
  settings({ memory_limit: 1024 * MIB })

  t.test('are made by the user of builds, which communicates with the runner through one descriptor', async t => {
    let heard = ''
    const { result, trace } = await build(['cat told; ls /proc/self/fd | wc -l'], {
      getSources: async ({ run, link }) => {
        const code = await run(
          [`echo "$(id -u) asks" >&${link}; read -r answer <&${link}; echo "$answer" >told`],
          socket => {
            socket.on('data', chunk => {
              heard += String(chunk)
              if (heard.endsWith('\n')) socket.write('answer\n')
            })
          }
        )
        t.equal(code, 0)
      }
    })
    t.equal(heard, '1000 asks\n')
    t.equal(result.status, 'success', trace)
    t.match(trace, '\nanswer\n')
  })

  t.test('end with the build when the other end sends nothing', async t => {
    const sockets: Duplex[] = []
    const getSources: RunnerPort['getSources'] = async ({ run, link }) => {
      const code = await run([`read -r nothing <&${link}`], socket => void sockets.push(socket))
      t.equal(code, undefined)
    }
    const { result } = await build(['echo ran'], { getSources }, 1)
    t.strictSame(result, { status: 'failed', reason: 'job_execution_timeout' })
    t.equal(sockets[0]?.destroyed, true)
  })
})

t.test('system calls', { skip: !IS_LINUX_64 && 'the filter knows x86-64 and arm64' }, async t => {
  settings({ memory_limit: 1024 * MIB })
  const call = (x64: number, arm64: number, args: string) =>
    perl(`$! = 0; my $r = syscall($arm ? ${arm64} : ${x64}, ${args}); print "result $r errno ", $! + 0, "\\n"`)

  for (const [name, x64, arm64, args, expected] of [
    ['mount', 165, 40, '0, 0, 0, 0, 0', 'result -1 errno 1'],
    ['unshare', 272, 97, '0', 'result -1 errno 1'],
    ['bpf', 321, 280, '0, 0, 0', 'result -1 errno 1'],
    ['keyctl', 250, 219, '0, -3, 0', 'result -1 errno 1'],
    ['userfaultfd', 323, 282, '1', 'result -1 errno 1'],
    ['perf_event_open', 298, 241, '0, 0, 0, 0, 0', 'result -1 errno 1'],
    ['io_uring_setup', 425, 425, '1, 0', 'result -1 errno 1'],
    ['clone with a new namespace', 56, 220, '0x10000000 | 17, 0, 0, 0, 0', 'result -1 errno 1'],
    ['a thread with separate files', 56, 220, '0x10900, 0, 0, 0, 0', 'result -1 errno 1'],
    ['a thread without shared memory', 56, 220, '0x10c00, 0, 0, 0, 0', 'result -1 errno 22'],
    ['close_range that separates the files', 436, 436, '900, 901, 2', 'result -1 errno 22'],
    ['close_range', 436, 436, '900, 901, 0', 'result 0 errno 0'],
    ['clone3', 435, 435, '0, 0', 'result -1 errno 38'],
    ['ptrace of the first process', 101, 117, '16, 1, 0, 0', 'result -1 errno 1'],
    ['ptrace of a process that is missing', 101, 117, '16, 9999, 0, 0', 'result -1 errno 3'],
    ['a large System V segment', 29, 194, '0, 1 << 30, 0x380', 'result -1 errno 22'],
    ['a segment of more than 4 GiB', 29, 194, '0, 1 << 40, 0x380', 'result -1 errno 22'],
    ['a small System V segment', 29, 194, '0, 4096, 0x380', /result \d+ errno 0/],
    ['a socket of an odd family', 41, 198, '38, 5, 0', 'result -1 errno 97'],
    ['an IPv4 socket', 41, 198, '2, 1, 0', /result \d+ errno 0/],
    ['a local socket', 41, 198, '1, 1, 0', /result \d+ errno 0/],
    ['a netlink socket', 41, 198, '16, 3, 0', /result \d+ errno 0/],
    ['getpid', 39, 172, '', /result \d+ errno 0/]
  ] as const) {
    t.test(`${name} ends as the filter decides`, async t => {
      const { trace } = await build([call(x64, arm64, args).replace(', );', ');')])
      t.match(trace, expected)
    })
  }

  t.test('threads and shells still work, and the programs that they start also have the filter', async t => {
    const { result, trace } = await build([
      'grep Seccomp: /proc/self/status; (sleep 0 | cat); perl -e "fork; wait" && node=$(command -v node || true)',
      'if [ -n "$node" ]; then "$node" -e "new (require(\'worker_threads\').Worker)(\'1\', { eval: true })"; fi'
    ])
    t.equal(result.status, 'success', trace)
    t.match(trace, /Seccomp:\t2\n/)
  })
})

t.test('each filter jumps only to its own instructions', async t => {
  for (const architecture of ['x64', 'arm64']) {
    const filter = seccompFilter(architecture)
    if (!filter) return t.fail(architecture)
    t.ok(filter.length % 8 === 0 && filter.length / 8 < 4096)
    for (let at = 0; at < filter.length / 8; at++) {
      const code = filter.readUInt16LE(at * 8)
      const last =
        code === 5 ? filter.readUInt32LE(at * 8 + 4) : Math.max(filter[at * 8 + 2] ?? 0, filter[at * 8 + 3] ?? 0)
      if (code !== 0x06 && at + 1 + last >= filter.length / 8) t.fail(`${architecture}: instruction ${at}`)
    }
  }
  t.equal(seccompFilter('mips'), undefined)
})

t.test('a build whose first process is stopped ends, and its slot is free', async t => {
  settings({ memory_limit: 1024 * MIB })
  const ended = build([`sleep ${nap(4)}`])
  const sleeper = await sleeperOf(4)
  // The first process of the sandbox, which has the number 1 in there.
  const first = firstOf(sleeper)
  const child = spawn('kill', ['-STOP', String(first)], { stdio: 'ignore' })
  await once(child, 'exit')
  const { result, trace } = await ended
  t.strictSame(result, { status: 'failed', reason: 'script_failure' })
  t.match(trace, 'ERROR: the first process of the sandbox was stopped; the build stops\n')
  t.strictSame(processesWith(nap(4)), [])
})

/** The processes below another one, seen from the outside. */
function processesBelow(pid: number): number[] {
  const text = ifAlive(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')) ?? ''
  return text
    .trim()
    .split(' ')
    .filter(Boolean)
    .flatMap(child => [Number(child), ...processesBelow(Number(child))])
    .sort((a, b) => a - b)
}

const isZombie = (pid: number) =>
  /^State:\tZ/m.test(ifAlive(() => readFileSync(`/proc/${pid}/status`, 'latin1')) ?? 'State:\tZ')
const stoppedOf = (first: number) => processesBelow(first).filter(isStopped)

function firstOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  const inside = /^NSpid:.*\t(\d+)$/m.exec(status)?.[1]
  const parent = Number(/^PPid:\t(\d+)$/m.exec(status)?.[1])
  return inside === '1' ? pid : firstOf(parent)
}
