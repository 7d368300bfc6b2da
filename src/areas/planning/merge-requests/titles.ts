// What the title of a merge request says.

const MARK = /^\s*(?:\[WIP\]\s*|WIP:\s*|WIP\s+)+/i

/** Whether the title says that the work goes on: it begins with `[WIP]`, `WIP:` or `WIP `, in any case. */
export const isWorkInProgress = (title: string): boolean => /^\s*(?:\[WIP\]|WIP:|WIP\s)/i.test(title)

/** The title without the mark, or with it. */
export const withMark = (title: string, mark: boolean): string => {
  const plain = title.replace(MARK, '')
  return mark ? `WIP: ${plain}` : plain
}
