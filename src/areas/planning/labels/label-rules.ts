// The allowed values of a label.
import { Invalid } from '../../../errors.js'
import { isHexColor } from '../../../lib/color.js'
import { isLonger } from '../../../lib/text-line.js'

const LONGEST = 255
/** The color of a label that is created because an issue or merge request got it. */
export const DEFAULT_COLOR = '#428BCA'
/** The maximum number of labels of a project or group. Not specified: a limit. Their list has no pages. */
export const MOST_LABELS = 2000

export interface LabelValues {
  readonly title?: string
  readonly color?: string
  readonly description?: string | null
  readonly priority?: number | null
}

/** Throws Invalid with all problems of the values. */
export function checkLabel({ title, color, description, priority }: LabelValues): void {
  const problems = {
    title: title === undefined ? null : titleProblem(title),
    color: color === undefined || isHexColor(color) ? null : 'must be a valid color code',
    description: isLonger(description ?? '', LONGEST) ? TOO_LONG : null,
    priority: priority === undefined || priority === null ? null : priorityProblem(priority)
  }
  const errors: Record<string, string[]> = {}
  for (const [name, problem] of Object.entries(problems)) if (problem !== null) errors[name] = [problem]
  if (Object.keys(errors).length > 0) throw new Invalid(errors)
}

const TOO_LONG = `is too long (maximum is ${LONGEST} characters)`
const LARGEST_PRIORITY = 4_294_967_295

/** Returns the problem of a title; null when there is none. */
export function titleProblem(title: string): string | null {
  if (title === '') return "can't be blank"
  if (isLonger(title, LONGEST)) return TOO_LONG
  return /[,\p{Cc}]/u.test(title) ? 'is invalid' : null
}

function priorityProblem(priority: number): string | null {
  if (priority < 0) return 'must be greater than or equal to 0'
  return priority > LARGEST_PRIORITY ? `must be less than or equal to ${LARGEST_PRIORITY}` : null
}
