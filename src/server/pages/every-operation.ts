// A plugin of Swagger UI for the page of the API. Swagger UI itself renders only the operations in view when there are more
// than 150 lines, so the search of the browser would not find the others.

type Component = (props: Props) => unknown

/** The parts of Swagger UI and of its immutable maps that the plugin uses. */
interface Operation {
  get(key: 'path' | 'method' | 'specPath'): unknown
}

interface Tag {
  get(key: 'operations'): { map<T>(view: (operation: Operation) => T): { toArray(): T[] } }
}

interface Props {
  readonly [name: string]: unknown
  readonly specSelectors: {
    taggedOperations(): { entrySeq(): { map<T>(view: (entry: [string, Tag]) => T): { toArray(): T[] } } }
    url(): string
  }
  readonly getComponent: (name: string, container?: boolean) => unknown
}

interface System {
  readonly React: { createElement(type: unknown, props: object, ...children: unknown[]): unknown }
}

declare const SwaggerUIBundle: { readonly plugins: { DownloadUrl(system: System): object } }

/** The default plugin, which loads the document. Naming other plugins replaces it. */
export const loadDocument = (system: System): object => SwaggerUIBundle.plugins.DownloadUrl(system)

/** Renders all operations. The browser runs the text of this function, so it uses nothing from outside. */
export function everyOperation({ React }: System): { components: { operations: Component } } {
  const render = React.createElement
  const operations: Component = props => {
    const { specSelectors, getComponent } = props
    const [Line, Group] = [getComponent('OperationContainer', true), getComponent('OperationTag')]
    const lines = (tag: string, group: Tag) =>
      group
        .get('operations')
        .map(op => {
          const [path, method, specPath] = [op.get('path'), op.get('method'), op.get('specPath')]
          return render(Line, { key: `${method} ${path}`, op, path, method, specPath, tag })
        })
        .toArray()
    const groups = specSelectors
      .taggedOperations()
      .entrySeq()
      .map(([tag, tagObj]) =>
        render(
          Group,
          { ...props, key: tag, tag, tagObj, specUrl: specSelectors.url() },
          render('div', { className: 'operations-tag-content' }, lines(tag, tagObj))
        )
      )
    return render('div', {}, groups.toArray())
  }
  return { components: { operations } }
}
