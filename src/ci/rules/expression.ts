// The conditions of `rules`: `$VARIABLE == "text" && ($OTHER =~ /expression/ || $THIRD)`.
import { patternProblem } from '../refs.js'

/** A condition as a tree. It can be written as JSON. */
export type Expression =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Expression[] }
  | { readonly kind: 'compare'; readonly operator: Operator; readonly left: Operand; readonly right: Operand }
  /** True when the operand is a text that is not empty. */
  | { readonly kind: 'present'; readonly operand: Operand }

export type Operand =
  | { readonly kind: 'variable'; readonly name: string }
  /** Null is the value of a variable that does not exist. */
  | { readonly kind: 'text'; readonly text: string | null }
  | { readonly kind: 'pattern'; readonly source: string; readonly ignoreCase: boolean }

type Operator = '==' | '!=' | '=~' | '!~'

export type ReadExpression =
  | { readonly expression: Expression; readonly problem: null }
  | { readonly expression: null; readonly problem: string }

const EXPRESSION_LENGTH = 2000
const DEPTH = 20

/** Why a text is not a condition; it continues a sentence that begins with the text. */
class Unreadable extends Error {}

type Token = { readonly kind: 'operand'; readonly operand: Operand } | { readonly kind: 'sign'; readonly sign: string }

/** Reads a condition. The problem continues a sentence, such as `has a \`(\` without its \`)\``. */
export function readExpression(text: string): ReadExpression {
  if (text.length > EXPRESSION_LENGTH) return refuse(`is longer than ${EXPRESSION_LENGTH} characters`)
  try {
    const cursor = { tokens: tokensOf(text), at: 0, depth: 0 }
    if (cursor.tokens.length === 0) return refuse('is empty')
    const expression = anyOf(cursor)
    if (cursor.at < cursor.tokens.length) throw unexpected(cursor.tokens[cursor.at])
    return { expression, problem: null }
  } catch (error) {
    if (error instanceof Unreadable) return refuse(error.message)
    throw error
  }
}

const refuse = (problem: string): ReadExpression => ({ expression: null, problem })

const TOKEN =
  /\s*(?:\$(\w+)|\$\{(\w+)\}|"([^"]*)"|'([^']*)'|(null)\b|\/((?:[^/\\]|\\.)+)\/([a-zA-Z]*)|(==|!=|=~|!~|&&|\|\||[()]))/suy

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  const end = text.trimEnd().length
  const lexer = new RegExp(TOKEN)
  while (lexer.lastIndex < end) {
    const from = lexer.lastIndex
    const found = lexer.exec(text)
    if (!found) throw new Unreadable(`is not understood from \`${text.slice(from).trim().slice(0, 20)}\` on`)
    tokens.push(tokenOf(found))
  }
  return tokens
}

function tokenOf([, bare, braced, double, single, nothing, source, flags, sign]: RegExpExecArray): Token {
  const name = bare ?? braced
  const text = double ?? single
  if (name !== undefined) return operand({ kind: 'variable', name })
  if (text !== undefined) return operand({ kind: 'text', text })
  if (nothing !== undefined) return operand({ kind: 'text', text: null })
  if (source !== undefined) return operand(patternOf(source, flags ?? ''))
  return { kind: 'sign', sign: sign ?? '' }
}

const operand = (operand: Operand): Token => ({ kind: 'operand', operand })

function patternOf(source: string, flags: string): Operand {
  if (!/^i?$/.test(flags)) throw new Unreadable(`has the flag \`${flags.slice(0, 10)}\`; only \`i\` is supported`)
  const problem = patternProblem(source, flags === 'i')
  if (problem) throw new Unreadable(`has a regular expression that ${problem}`)
  return { kind: 'pattern', source, ignoreCase: flags === 'i' }
}

interface Cursor {
  readonly tokens: readonly Token[]
  at: number
  depth: number
}

const anyOf = (cursor: Cursor): Expression => joined(cursor, 'or', '||', allOf)
const allOf = (cursor: Cursor): Expression => joined(cursor, 'and', '&&', comparison)

function joined(cursor: Cursor, kind: 'and' | 'or', sign: string, part: (cursor: Cursor) => Expression): Expression {
  const parts = [part(cursor)]
  while (take(cursor, sign)) parts.push(part(cursor))
  return parts.length === 1 && parts[0] ? parts[0] : { kind, parts }
}

function comparison(cursor: Cursor): Expression {
  if (take(cursor, '(')) {
    if (++cursor.depth > DEPTH) throw new Unreadable('is nested too deeply')
    const inner = anyOf(cursor)
    cursor.depth--
    if (!take(cursor, ')')) throw new Unreadable('has a `(` without its `)`')
    return inner
  }
  const left = operandAt(cursor)
  const token = cursor.tokens[cursor.at]
  const operator = token?.kind === 'sign' ? operatorOf(token.sign) : undefined
  if (!operator) {
    if (left.kind === 'pattern') throw new Unreadable('has a regular expression without `=~` before it')
    return { kind: 'present', operand: left }
  }
  cursor.at++
  const right = operandAt(cursor)
  const matches = operator === '=~' || operator === '!~'
  if (left.kind === 'pattern' || (right.kind === 'pattern' && !matches)) {
    throw new Unreadable('has a regular expression that is not on the right of `=~` or `!~`')
  }
  if (matches && right.kind === 'text') {
    throw new Unreadable(`needs a regular expression between slashes after \`${operator}\``)
  }
  return { kind: 'compare', operator, left, right }
}

const OPERATORS: readonly Operator[] = ['==', '!=', '=~', '!~']
const operatorOf = (sign: string) => OPERATORS.find(operator => operator === sign)

function operandAt(cursor: Cursor): Operand {
  const token = cursor.tokens[cursor.at]
  if (token?.kind !== 'operand') throw unexpected(token)
  cursor.at++
  return token.operand
}

function unexpected(token: Token | undefined): Unreadable {
  if (!token) return new Unreadable('ends too early')
  return new Unreadable(token.kind === 'sign' ? `has a \`${token.sign}\` where it should not` : 'lacks an operator')
}

function take(cursor: Cursor, sign: string): boolean {
  const token = cursor.tokens[cursor.at]
  if (token?.kind !== 'sign' || token.sign !== sign) return false
  cursor.at++
  return true
}
