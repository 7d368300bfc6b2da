// The mark in the title of a merge request that is still in progress.

const MARK = /^\s*(?:\[WIP\]\s*|WIP:\s*|WIP\s+)+/i

/** Whether the title marks work in progress: it begins with `[WIP]`, `WIP:` or `WIP `, in any case. */
export const isWorkInProgress = (title: string): boolean => /^\s*(?:\[WIP\]|WIP:|WIP\s)/i.test(title)

/** Returns the title with the mark, or without it. */
export const withMark = (title: string, mark: boolean): string => {
  const plain = title.replace(MARK, '')
  return mark ? `WIP: ${plain}` : plain
}
