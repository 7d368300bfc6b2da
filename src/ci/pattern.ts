// Matches regular expressions of users in a time that is bounded by the length of the pattern times that of the text. JavaScript's
// own engine backtracks without a bound: `(a+)+$` can block the process for minutes with thirty characters. Refusing patterns that
// look dangerous would also refuse `^v\d+(\.\d+)*$`. A search here visits each pair of an instruction and a position only once.
import { type Node, PatternError, parsePattern } from './pattern-syntax.js'

export { PatternError } from './pattern-syntax.js'

type Instruction =
  | { readonly op: 'character'; readonly test: (character: string) => boolean }
  | { readonly op: 'assert'; readonly place: 'start' | 'end' | 'boundary' | 'inside' }
  | { readonly op: 'look'; readonly program: readonly Instruction[]; readonly negative: boolean }
  /** Tries `first`, then `second`. */
  | { readonly op: 'split'; readonly first: number; readonly second: number }
  | { readonly op: 'jump'; readonly to: number }
  | { readonly op: 'save'; readonly slot: number }
  | { readonly op: 'match' }

export interface Pattern {
  readonly program: readonly Instruction[]
  readonly groups: number
}

// A pattern of 255 characters needs more instructions only with counted repeats.
const PROGRAM_LIMIT = 500
// Only a look-ahead that is tried again at every position comes near this limit (0.1 s). Beyond it there is no match.
const STEP_LIMIT = 2_000_000

/** Compiles the text between the slashes. Throws PatternError when the pattern is wrong or too large. */
export function compilePattern(text: string, ignoreCase = false): Pattern {
  const { node, groups } = parsePattern(text, ignoreCase)
  const program: Instruction[] = []
  emit({ kind: 'group', node, slot: 0 }, program, { left: PROGRAM_LIMIT })
  program.push({ op: 'match' })
  return { program, groups }
}

interface Budget {
  left: number
}

function emit(node: Node, program: Instruction[], budget: Budget): void {
  if (--budget.left < 0) throw new PatternError('repeats too much')
  switch (node.kind) {
    case 'character':
      program.push({ op: 'character', test: node.test })
      return
    case 'assert':
      program.push({ op: 'assert', place: node.place })
      return
    case 'sequence':
      for (const inner of node.nodes) emit(inner, program, budget)
      return
    case 'group':
      program.push({ op: 'save', slot: node.slot * 2 })
      emit(node.node, program, budget)
      program.push({ op: 'save', slot: node.slot * 2 + 1 })
      return
    case 'look': {
      const inner: Instruction[] = []
      emit(node.node, inner, budget)
      program.push({ op: 'look', program: [...inner, { op: 'match' }], negative: node.negative })
      return
    }
    case 'choice':
      emitChoice(node.nodes, program, budget)
      return
    case 'repeat':
      emitRepeat(node, program, budget)
  }
}

function emitChoice(nodes: readonly Node[], program: Instruction[], budget: Budget): void {
  const jumps: { op: 'jump'; to: number }[] = []
  for (const node of nodes.slice(0, -1)) {
    const split = { op: 'split' as const, first: program.length + 1, second: 0 }
    program.push(split)
    emit(node, program, budget)
    const jump = { op: 'jump' as const, to: 0 }
    program.push(jump)
    jumps.push(jump)
    split.second = program.length
  }
  for (const node of nodes.slice(-1)) emit(node, program, budget)
  for (const jump of jumps) jump.to = program.length
}

function emitRepeat(node: Node & { kind: 'repeat' }, program: Instruction[], budget: Budget): void {
  for (let count = 0; count < node.least; count++) emit(node.node, program, budget)
  const optional = (body: () => void) => {
    const split = { op: 'split' as const, first: 0, second: 0 }
    program.push(split)
    const inside = program.length
    body()
    split.first = node.greedy ? inside : program.length
    split.second = node.greedy ? program.length : inside
  }
  if (node.most === Number.POSITIVE_INFINITY) {
    const start = program.length
    optional(() => {
      emit(node.node, program, budget)
      program.push({ op: 'jump', to: start })
    })
    return
  }
  for (let count = node.least; count < node.most; count++) optional(() => emit(node.node, program, budget))
}

export interface Match {
  readonly end: number
  /** The whole match first, then each group; undefined for a group that took no part in the match. */
  readonly groups: readonly (string | undefined)[]
}

/**
 * The leftmost match that begins at `from` or later; undefined when there is none, or when no `steps` are left. Several
 * searches may share their `steps`.
 */
export function search(pattern: Pattern, text: string, from = 0, steps = { left: STEP_LIMIT }): Match | undefined {
  const slots: number[] = new Array((pattern.groups + 1) * 2).fill(-1)
  const visited = new Uint8Array(pattern.program.length * (text.length + 1))
  for (let start = from; start <= text.length; start++) {
    if (!run({ program: pattern.program, text, slots, visited, steps }, start)) continue
    const groups = Array.from({ length: pattern.groups + 1 }, (_, group) => {
      const [begin = -1, end = -1] = slots.slice(group * 2, group * 2 + 2)
      return begin < 0 || end < 0 ? undefined : text.slice(begin, end)
    })
    return { end: slots[1] ?? start, groups }
  }
  return undefined
}

/** Whether the text contains a match of the pattern. */
export function matches(pattern: Pattern, text: string): boolean {
  return search(pattern, text) !== undefined
}

interface Search {
  readonly program: readonly Instruction[]
  readonly text: string
  readonly slots: number[]
  readonly visited: Uint8Array
  readonly steps: Budget
}

/** Either a place where the search continues, or a slot to reset after everything behind it has failed. */
type Pending = { readonly at: number; readonly position: number } | { readonly slot: number; readonly value: number }

function run(search: Search, start: number): boolean {
  const stack: Pending[] = [{ at: 0, position: start }]
  for (let next = stack.pop(); next; next = stack.pop()) {
    if ('slot' in next) search.slots[next.slot] = next.value
    else if (follow(search, stack, next.at, next.position)) return true
  }
  return false
}

/** Follows one path until it fails or matches; leaves the other branches on the stack. */
function follow(search: Search, stack: Pending[], from: number, start: number): boolean {
  const { program, text, slots, visited } = search
  let at = from
  let position = start
  for (;;) {
    const instruction = program[at]
    const key = at * (text.length + 1) + position
    // A state that has failed once fails again, because no match depends on the way to that state.
    if (!instruction || visited[key] || --search.steps.left < 0) return false
    visited[key] = 1
    at++
    switch (instruction.op) {
      case 'match':
        return true
      case 'character':
        if (position >= text.length || !instruction.test(text.charAt(position))) return false
        position++
        break
      case 'assert':
        if (!holds(instruction.place, text, position)) return false
        break
      case 'look':
        if (looksLike(search, instruction.program, position) === instruction.negative) return false
        break
      case 'split':
        stack.push({ at: instruction.second, position })
        at = instruction.first
        break
      case 'jump':
        at = instruction.to
        break
      case 'save':
        stack.push({ slot: instruction.slot, value: slots[instruction.slot] ?? -1 })
        slots[instruction.slot] = position
    }
  }
}

function looksLike({ text, slots, steps }: Search, program: readonly Instruction[], position: number): boolean {
  const visited = new Uint8Array(program.length * (text.length + 1))
  steps.left -= visited.length >> 6
  return run({ program, text, slots: [...slots], visited, steps }, position)
}

function holds(place: 'start' | 'end' | 'boundary' | 'inside', text: string, position: number): boolean {
  if (place === 'start') return position === 0
  if (place === 'end') return position === text.length
  const isWord = (index: number) => /^\w$/.test(text.charAt(index))
  return (isWord(position - 1) !== isWord(position)) === (place === 'boundary')
}
