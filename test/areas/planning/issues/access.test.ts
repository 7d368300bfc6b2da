import { testAccess } from '../../../access/matrix.js'
import { access } from './issues.access.js'

testAccess([access])
