import { testAccess } from '../../../access/matrix.js'
import { access as settings } from './settings.access.js'

testAccess([settings])
