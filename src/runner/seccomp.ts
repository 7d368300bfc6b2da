// The system calls that a build may not use: those that reach beyond its namespaces, load code into the kernel, or have often
// been used to escape from a sandbox. The list follows Docker's default profile. A refused call fails with EPERM and the program
// continues, so that a program that only tries a call still works.
import { endianness } from 'node:os'

/** The numbers of each call on x86-64, on 32-bit x86 and on arm64. */
type Numbers = readonly [x64: number | null, ia32: number | null, arm64: number | null]

const REFUSED: { readonly [name: string]: Numbers } = {
  acct: [163, 51, 89],
  add_key: [248, 286, 217],
  bpf: [321, 357, 280],
  clock_adjtime: [305, 343, 266],
  clock_adjtime64: [null, 405, null],
  clock_settime: [227, 264, 112],
  clock_settime64: [null, 404, null],
  create_module: [174, 127, null],
  delete_module: [176, 129, 106],
  fanotify_init: [300, 338, 262],
  finit_module: [313, 350, 273],
  fsconfig: [431, 431, 431],
  fsmount: [432, 432, 432],
  fsopen: [430, 430, 430],
  fspick: [433, 433, 433],
  get_kernel_syms: [177, 130, null],
  get_mempolicy: [239, 275, 236],
  init_module: [175, 128, 105],
  io_uring_enter: [426, 426, 426],
  io_uring_register: [427, 427, 427],
  io_uring_setup: [425, 425, 425],
  ioperm: [173, 101, null],
  iopl: [172, 110, null],
  kcmp: [312, 349, 272],
  kexec_file_load: [320, null, 294],
  kexec_load: [246, 283, 104],
  keyctl: [250, 288, 219],
  lookup_dcookie: [212, 253, 18],
  mbind: [237, 274, 235],
  mount: [165, 21, 40],
  mount_setattr: [442, 442, 442],
  move_mount: [429, 429, 429],
  move_pages: [279, 317, 239],
  name_to_handle_at: [303, 341, 264],
  nfsservctl: [180, 169, 42],
  open_by_handle_at: [304, 342, 265],
  open_tree: [428, 428, 428],
  perf_event_open: [298, 336, 241],
  pivot_root: [155, 217, 41],
  query_module: [178, 167, null],
  quotactl: [179, 131, 60],
  quotactl_fd: [443, 443, 443],
  reboot: [169, 88, 142],
  request_key: [249, 287, 218],
  set_mempolicy: [238, 276, 237],
  set_mempolicy_home_node: [450, 450, 450],
  setns: [308, 346, 268],
  settimeofday: [164, 79, 170],
  stime: [null, 25, null],
  swapoff: [168, 115, 225],
  swapon: [167, 87, 224],
  sysfs: [139, 135, null],
  syslog: [103, 103, 116],
  _sysctl: [156, 149, null],
  umount: [null, 22, null],
  umount2: [166, 52, 39],
  unshare: [272, 310, 97],
  uselib: [134, 86, null],
  userfaultfd: [323, 374, 282],
  ustat: [136, 62, null],
  vhangup: [153, 111, 58],
  vm86: [null, 166, null],
  vm86old: [null, 113, null]
}

const EPERM = 1
const EINVAL = 22
const ENOSYS = 38
const EAFNOSUPPORT = 97

/** The CLONE_NEW flags, which ask for new namespaces. */
const NAMESPACES = 0x7e020000
/**
 * With every C library, threads share the open files of their process. A thread with separate files could hold files that the
 * list of its process does not show, so nothing would count them.
 */
const CLONE_THREAD = 0x10000
const CLONE_FILES = 0x400
/**
 * The largest System V segment and set of semaphores. A namespace may have 4,096 segments and 32,000 sets, and no process shows
 * them in its memory, so these bounds limit them to 256 MiB and about 100 MiB.
 */
const LARGEST_SEGMENT = 65_536
const LARGEST_SET = 32
/** AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK. */
const SOCKETS = [1, 2, 10, 16]

/** A rule about the arguments of a call. It ends in a decision or falls through, which allows the call. */
interface Rule {
  readonly numbers: Numbers
  readonly code: readonly Instruction[]
}

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number]

const load = (offset: number): Instruction => [0x20, 0, 0, offset]
const argument = (index: number, half: 'low' | 'high' = 'low') => load(16 + 8 * index + (half === 'high' ? 4 : 0))
const ifEqual = (value: number, yes: number, no: number): Instruction => [0x15, yes, no, value]
const ifGreater = (value: number, yes: number, no: number): Instruction => [0x25, yes, no, value]
const ifAtLeast = (value: number, yes: number, no: number): Instruction => [0x35, yes, no, value]
const ifAny = (bits: number, yes: number, no: number): Instruction => [0x45, yes, no, bits]
const ALLOW: Instruction = [0x06, 0, 0, 0x7fff0000]
const refuse = (error: number): Instruction => [0x06, 0, 0, 0x00050000 | error]

const notThePidOne = [argument(1), ifEqual(1, 0, 1), refuse(EPERM)]
const atMost = (index: number, most: number) => [
  argument(index, 'high'),
  ifEqual(0, 0, 2),
  argument(index),
  ifGreater(most, 0, 1),
  refuse(EINVAL)
]

const RULES: readonly Rule[] = [
  {
    numbers: [56, 120, 220],
    code: [
      argument(0),
      ifAny(NAMESPACES, 0, 1),
      refuse(EPERM),
      ifAny(CLONE_THREAD, 0, 2),
      ifAny(CLONE_FILES, 1, 0),
      refuse(EPERM)
    ]
  },
  // close_range with CLOSE_RANGE_UNSHARE also gives a thread separate files. Older kernels do not support the flag.
  { numbers: [436, 436, 436], code: [argument(2), ifAny(2, 0, 1), refuse(EINVAL)] },
  // The flags of clone3 are in memory, where a filter cannot look. C libraries fall back to clone.
  { numbers: [435, 435, 435], code: [refuse(ENOSYS)] },
  // ptrace and process_vm_writev: a process that stops or changes the first process of the sandbox would keep it from ending.
  { numbers: [101, 26, 117], code: notThePidOne },
  {
    numbers: [311, 348, 271],
    code: [argument(0), ifEqual(1, 0, 1), refuse(EPERM)]
  },
  { numbers: [29, 395, 194], code: atMost(1, LARGEST_SEGMENT) },
  { numbers: [64, 393, 190], code: atMost(1, LARGEST_SET) },
  {
    numbers: [41, 359, 198],
    code: [
      argument(0),
      ...SOCKETS.map((family, index) => ifEqual(family, SOCKETS.length - index, 0)),
      refuse(EAFNOSUPPORT)
    ]
  },
  // Only on 32-bit x86: one call for all of System V, with its arguments in memory. Programs can use the separate calls.
  { numbers: [null, 117, null], code: [refuse(ENOSYS)] }
]

/** Decides about every call of one architecture. The number of the call must not be loaded yet. */
function table(column: 0 | 1 | 2): Instruction[] {
  const plain = Object.values(REFUSED).flatMap(numbers => {
    const number = numbers[column]
    return number === null ? [] : [ifEqual(number, 0, 1), refuse(EPERM)]
  })
  const rules = RULES.flatMap(({ numbers, code }) => {
    const number = numbers[column]
    return number === null ? [] : [ifEqual(number, 0, code.length + 1), ...code, ALLOW]
  })
  return [load(0), ...plain, ...rules, ALLOW]
}

const X64 = 0xc000003e
const IA32 = 0x40000003
const ARM64 = 0xc00000b7

function programFor(architecture: string): Instruction[] | undefined {
  if (architecture === 'arm64') return [load(4), ifEqual(ARM64, 1, 0), refuse(ENOSYS), ...table(2)]
  if (architecture !== 'x64') return undefined
  // A call of the x32 ABI has bit 30 set in its number.
  const noX32 = [load(0), ifAtLeast(0x40000000, 0, 1), refuse(ENOSYS)]
  const long = [...noX32, ...table(0)]
  const short = table(1)
  return [load(4), ifEqual(X64, 0, 1), jump(short.length + 2), ifEqual(IA32, 1, 0), refuse(ENOSYS), ...short, ...long]
}

/** Jumps over this many instructions. The jumps of a comparison reach only 255 of them. */
const jump = (over: number): Instruction => [0x05, 0, 0, over]

/**
 * Returns the filter in the format of bwrap, or undefined on a machine whose system calls this table does not have.
 * `architecture` is a name of Node.js.
 */
export function seccompFilter(architecture: string = process.arch): Buffer | undefined {
  const program = endianness() === 'LE' ? programFor(architecture) : undefined
  if (!program) return undefined
  const bytes = Buffer.alloc(program.length * 8)
  program.forEach(([code, jumpTrue, jumpFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(jumpTrue, index * 8 + 2)
    bytes.writeUInt8(jumpFalse, index * 8 + 3)
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4)
  })
  return bytes
}
